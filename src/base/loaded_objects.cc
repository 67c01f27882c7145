#include "base/loaded_objects.h"

#include <link.h>

namespace headrace {

namespace {

/// What the dynamic linker tells with each object.
struct Counts {
  unsigned long long loaded = 0;
  unsigned long long unloaded = 0;
};

Counts object_counts() {
  Counts counts;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<Counts*>(data) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &counts);
  return counts;
}

}  // namespace

unsigned long long loaded_object_count() {
  return object_counts().loaded;
}

unsigned long long unloaded_object_count() {
  return object_counts().unloaded;
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
