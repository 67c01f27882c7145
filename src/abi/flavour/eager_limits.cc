#include "abi/flavour/eager_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "abi/flavour/library_version.h"
#include "abi/flavour/native.h"
#include "base/message.h"
#include "base/result.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// What moves messages. Libraries have the variables of all that they were built with.
enum class Transport { mpich_shared_memory, mpich_ofi, open_mpi_ob1 };

struct Variable {
  const char* name;
  bool is_on_node;
  Transport transport;
};
// The least of those in force holds.
constexpr Variable kVariables[] = {
    {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", true, Transport::mpich_shared_memory},
    {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", true, Transport::mpich_shared_memory},
    {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", false, Transport::mpich_ofi},
    {"btl_sm_eager_limit", true, Transport::open_mpi_ob1},     // 5; the next is its older name
    {"btl_vader_eager_limit", true, Transport::open_mpi_ob1},  // 4
    {"btl_tcp_eager_limit", false, Transport::open_mpi_ob1},
};

/// A control variable while it is looked at.
class ControlVariable {
 public:
  explicit ControlVariable(const char* name) {
    int index = 0;
    is_there_ = native.T_cvar_get_index(name, &index) == MPI_SUCCESS && has_type(index) &&
                native.T_cvar_handle_alloc(index, nullptr, &handle_, &count_) == MPI_SUCCESS;
  }
  ~ControlVariable() {
    if (is_there_) native.T_cvar_handle_free(&handle_);
  }
  ControlVariable(const ControlVariable&) = delete;
  ControlVariable& operator=(const ControlVariable&) = delete;

  bool is_there() const { return is_there_; }

  /// Nothing if it is not one whole number.
  std::optional<std::int64_t> number() const {
    std::int64_t large = 0;
    std::int32_t small = 0;
    if (!is_there_ || count_ != 1) return std::nullopt;
    if (size_ == sizeof large && read(&large)) return large;
    if (size_ == sizeof small && read(&small)) return small;
    return std::nullopt;
  }

  /// "" if it is not a text.
  std::string text() const {
    std::array<char, 4096> text{};
    if (!is_there_ || size_ != 1 || count_ >= static_cast<int>(text.size())) return "";
    return read(text.data()) ? text.data() : "";
  }

 private:
  bool has_type(int index) {
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_T_enum names{};
    char text[2];
    int name_len = sizeof text;
    int text_len = sizeof text;
    return native.T_cvar_get_info(index, text, &name_len, &verbosity, &datatype, &names, text,
                                  &text_len, &bind, &scope) == MPI_SUCCESS &&
           native.Type_size_x(datatype, &size_) == MPI_SUCCESS;
  }
  bool read(void* value) const { return native.T_cvar_read(handle_, value) == MPI_SUCCESS; }

  MPI_T_cvar_handle handle_{};
  MPI_Count size_ = 0;
  int count_ = 0;
  bool is_there_ = false;
};

/// "ucx,ofi" where MPICH was built with --with-device=ch4:ucx,ofi.
std::string mpich_networks() {
  constexpr std::string_view kBefore = "MPICH Device:";
  constexpr std::string_view kDevice = "ch4:";
  const std::string_view version = library_version();
  const std::size_t line = version.find(kBefore);
  const std::size_t begin = line == version.npos ? line : version.find(kDevice, line);
  if (begin == version.npos || begin > version.find('\n', line)) return "";
  const std::string_view rest = version.substr(begin + kDevice.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

bool is_in_use(Transport transport) {
  switch (transport) {
    // UCX alone moves messages within nodes, too.
    case Transport::mpich_shared_memory: return mpich_networks() != "ucx";
    case Transport::mpich_ofi: {
      const std::string chosen = ControlVariable("MPIR_CVAR_CH4_NETMOD").text();
      return (chosen.empty() ? mpich_networks() : chosen).starts_with("ofi");
    }
    // Open MPI takes away the variables of components that it has not chosen.
    case Transport::open_mpi_ob1: return ControlVariable("pml_ob1_send_pipeline_depth").is_there();
  }
  return false;
}

std::optional<EagerLimit> least_limit(bool is_on_node) {
  std::optional<EagerLimit> least;
  for (const Variable& one : kVariables) {
    if (one.is_on_node != is_on_node) continue;
    const auto bytes = ControlVariable(one.name).number();
    // Below 0 what is beneath the library decides.
    if (!bytes || *bytes < 0 || !is_in_use(one.transport)) continue;
    if (!least || *bytes < least->bytes) least = EagerLimit{is_on_node, *bytes, one.name};
  }
  return least;
}

/// Open MPI takes the level that is asked for here for the whole process: only that which it has
/// given already leaves its locks as they are.
bool begin_tools() {
  int level = MPI_THREAD_SINGLE;
  int provided = 0;
  return native.Query_thread(&level) == MPI_SUCCESS &&
         native.T_init_thread(level, &provided) == MPI_SUCCESS;
}

bool has_tools() {
  return native.T_init_thread != nullptr && native.T_finalize != nullptr &&
         native.T_cvar_get_index != nullptr && native.T_cvar_get_info != nullptr &&
         native.T_cvar_handle_alloc != nullptr && native.T_cvar_handle_free != nullptr &&
         native.T_cvar_read != nullptr && native.Type_size_x != nullptr;
}

}  // namespace

std::vector<EagerLimit> eager_limits() {
  std::vector<EagerLimit> found;
  if (!has_tools() || !begin_tools()) return found;
  static_cast<void>(attempt([&]() -> Error {
    for (const bool is_on_node : {true, false}) {
      if (const auto limit = least_limit(is_on_node)) found.push_back(*limit);
    }
    return {};
  }));
  native.T_finalize();
  return found;
}

void show_eager_limits() {
  static_cast<void>(attempt([]() -> Error {
    const std::vector<EagerLimit> limits = eager_limits();
    for (const bool is_on_node : {true, false}) {
      const std::string where = is_on_node ? "within a node" : "between nodes";
      const auto limit = std::ranges::find(limits, is_on_node, &EagerLimit::is_on_node);
      print_message(limit == limits.end()
                        ? "the MPI library does not tell from which size on messages " + where +
                              " wait for their receiver"
                        : "messages " + where +
                              " wait for their receiver if they are larger than " +
                              std::to_string(limit->bytes) + " bytes (" + limit->variable + ")");
    }
    return {};
  }));
}

bool are_eager_limits_costly() {
  return library_version().starts_with("Open MPI");
}

record::Facts eager_facts() {
  record::Facts facts;
  for (const EagerLimit& one : eager_limits()) {
    const std::string name = one.is_on_node ? "eager_limit_node" : "eager_limit_network";
    facts.emplace_back(name, std::to_string(one.bytes));
    facts.emplace_back(name + "_variable", one.variable);
  }
  return facts;
}

}  // namespace headrace::HEADRACE_FLAVOUR
