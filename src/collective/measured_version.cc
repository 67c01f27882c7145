#include "collective/measured_version.h"

#include <algorithm>
#include <charconv>

namespace headrace::collective {

bool is_measured_version(Library library, std::string_view says) {
  const auto* const measured =
      std::ranges::find(kMeasuredLibraries, library, &MeasuredLibrary::library);
  if (measured == std::end(kMeasuredLibraries) || !says.starts_with(measured->says)) return false;
  says.remove_prefix(measured->says.size());
  says.remove_prefix(std::min(says.find_first_not_of(" \t"), says.size()));
  int major = 0;
  const auto [end, error] = std::from_chars(says.data(), says.data() + says.size(), major);
  return error == std::errc{} && major == measured->major;
}

}  // namespace headrace::collective
