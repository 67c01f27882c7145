#include "abi/flavour/hint.h"

#include <string>

#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {

file::Hints hints_of(MPI_Info info) {
  file::Hints hints;
  int num_keys = 0;
  if (info == MPI_INFO_NULL || native.Info_get_nkeys(info, &num_keys) != MPI_SUCCESS) return hints;
  for (int i = 0; i < num_keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    int length = 0;
    int found = 0;
    if (native.Info_get_nthkey(info, i, key) != MPI_SUCCESS) continue;
    if (native.Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS || !found) continue;
    std::string value(static_cast<std::size_t>(length) + 1, '\0');
    if (native.Info_get(info, key, length, value.data(), &found) != MPI_SUCCESS || !found) continue;
    hints[key] = value.c_str();
  }
  return hints;
}

std::string memory_kinds_of(MPI_Comm communicator) {
  MPI_Info info = MPI_INFO_NULL;
  if (native.Comm_get_info(communicator, &info) != MPI_SUCCESS) return {};
  std::string kinds(MPI_MAX_INFO_VAL, '\0');
  int found = 0;
  const int code = native.Info_get(info, kMemoryKinds, MPI_MAX_INFO_VAL - 1, kinds.data(), &found);
  native.Info_free(&info);
  return code == MPI_SUCCESS && found != 0 ? kinds.c_str() : "";
}

Error make_info(const file::Hints& hints, MPI_Info* info) {
  if (native.Info_create(info) != MPI_SUCCESS) return native_failure("make an info object");
  for (const auto& [key, value] : hints) {
    if (key.size() >= MPI_MAX_INFO_KEY || value.empty()) continue;
    constexpr std::size_t kMaxLength = MPI_MAX_INFO_VAL - 1;
    // Reports may be cut; a hint that was cut would be another one.
    if (value.size() > kMaxLength && !key.starts_with("headrace_")) continue;
    const bool is_cut = value.size() > kMaxLength;
    native.Info_set(*info, key.c_str(),
                    is_cut ? value.substr(0, kMaxLength).c_str() : value.c_str());
  }
  return {};
}

}  // namespace headrace::HEADRACE_FLAVOUR
