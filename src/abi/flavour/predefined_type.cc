#include "abi/flavour/predefined_type.h"

#include <algorithm>
#include <array>

#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {

Result<const abi::PredefinedType*> find_predefined(MPI_Datatype datatype) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> buffer{};
  int length = 0;
  if (native.Type_get_name(datatype, buffer.data(), &length) != MPI_SUCCESS) {
    return native_failure("ask for the name of a datatype");
  }
  const std::string_view name(buffer.data());
  const auto* const end = std::ranges::end(abi::predefined_types);
  const auto* const found =
      std::ranges::lower_bound(abi::predefined_types, name, {}, &abi::PredefinedType::name);
  return found == end || found->name != name ? nullptr : found;
}

}  // namespace headrace::HEADRACE_FLAVOUR
