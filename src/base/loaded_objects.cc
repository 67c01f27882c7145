#include "base/loaded_objects.h"

#include <link.h>

namespace headrace {

unsigned long long loaded_object_count() {
  unsigned long long count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

void for_each_object_path(const std::function<void(std::string_view)>& visit) {
  auto* argument = const_cast<std::function<void(std::string_view)>*>(&visit);
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        (*static_cast<const std::function<void(std::string_view)>*>(data))(info->dlpi_name);
        return 0;
      },
      argument);
}

}  // namespace headrace
