#include "abi/flavour/eager_limits.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "abi/flavour/native.h"
#include "base/message.h"
#include "base/result.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// Messages larger than such a variable says wait until the receiver is ready. A library has those
/// of its transports.
struct Variable {
  const char* name;
  const char* where;
};
constexpr Variable kVariables[] = {
    {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", "within a node"},               // MPICH
    {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", "within a node, a part"},  // MPICH
    {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "between nodes"},                 // MPICH, Intel MPI
    {"btl_sm_eager_limit", "within a node"},                                // Open MPI 5
    {"btl_vader_eager_limit", "within a node"},                             // Open MPI 4
    {"btl_tcp_eager_limit", "between nodes over TCP"},                      // Open MPI
};

/// A control variable that is one whole number; nothing for others and where the library lacks it.
std::optional<std::int64_t> read_variable(const char* name) {
  int index = 0;
  if (native.T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  int verbosity = 0;
  int bind = 0;
  int scope = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_T_enum names{};
  char text[2];
  int name_len = sizeof text;
  int text_len = sizeof text;
  MPI_Count size = 0;
  if (native.T_cvar_get_info(index, text, &name_len, &verbosity, &datatype, &names, text, &text_len,
                             &bind, &scope) != MPI_SUCCESS ||
      native.Type_size_x(datatype, &size) != MPI_SUCCESS) {
    return std::nullopt;
  }
  MPI_T_cvar_handle handle{};
  int count = 0;
  if (native.T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) {
    return std::nullopt;
  }
  std::optional<std::int64_t> found;
  std::int64_t large = 0;
  std::int32_t small = 0;
  if (count == 1 && size == sizeof large) {
    if (native.T_cvar_read(handle, &large) == MPI_SUCCESS) found = large;
  } else if (count == 1 && size == sizeof small) {
    if (native.T_cvar_read(handle, &small) == MPI_SUCCESS) found = small;
  }
  native.T_cvar_handle_free(&handle);
  return found;
}

bool has_tools() {
  return native.T_init_thread != nullptr && native.T_finalize != nullptr &&
         native.T_cvar_get_index != nullptr && native.T_cvar_get_info != nullptr &&
         native.T_cvar_handle_alloc != nullptr && native.T_cvar_handle_free != nullptr &&
         native.T_cvar_read != nullptr;
}

}  // namespace

void show_eager_limits() {
  int provided = 0;
  if (!has_tools() || native.T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
    return;
  }
  static_cast<void>(attempt([&]() -> Error {
    for (const auto& [name, where] : kVariables) {
      const auto value = read_variable(name);
      if (!value) continue;
      const std::string limit =
          *value < 0 ? "the network decides" : "at most " + std::to_string(*value) + " bytes";
      print_message("messages that are sent at once " + std::string(where) + ": " + limit + " (" +
                    name + ")");
    }
    return {};
  }));
  native.T_finalize();
}

}  // namespace headrace::HEADRACE_FLAVOUR
