#include "abi/flavour/recorded_caller.h"

#include <dlfcn.h>

#include <cctype>
#include <string_view>

#include "abi/flavour/native.h"
#include "abi/flavour/recorded_call.h"
#include "base/elf_object.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

/// The object that an address lies in. Two have the same identity only if they are one.
struct Place {
  std::uintptr_t identity = 0;
  bool is_plugin = false;  ///< of Open MPI
  /// Has procedures of MPI of its own: a tool that wraps them. A program that has some is a
  /// program.
  bool is_tool = false;
};

/// Takes no memory.
Place place_of(std::uintptr_t address) {
  Place found;
  visit_object_at(reinterpret_cast<const void*>(address), [&](const ElfObject& object) {
    const std::string_view path = object.path();
    found.identity = object.identity();
    found.is_plugin = path.substr(path.rfind('/') + 1).starts_with("mca_");
    found.is_tool = object.is_library() && object.defines("MPI_Finalize");
  });
  return found;
}

/// The name of the function that an address lies in; null if the linker has none.
const char* function_at(std::uintptr_t address) {
  Dl_info found{};
  return dladdr(reinterpret_cast<const void*>(address), &found) == 0 ? nullptr : found.dli_sname;
}

/// Whether a function is some MPI_X or mpi_x_ and `name` is that MPI_X. The function may have PMPI_
/// or _c in its name, which `name` never has.
bool wraps(std::string_view function, std::string_view name) {
  if (!function.empty() && std::tolower(function[0]) == 'p') function.remove_prefix(1);
  while (function.ends_with('_')) function.remove_suffix(1);
  if (function.ends_with("_c") && !name.ends_with("_c")) function.remove_suffix(2);
  if (function.size() != name.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::tolower(function[i]) != std::tolower(name[i])) return false;
  }
  return true;
}

}  // namespace

record::Caller caller_of(std::uintptr_t return_address, int procedure) {
  using record::Caller;
  static const std::uintptr_t library =
      place_of(reinterpret_cast<std::uintptr_t>(native.Comm_rank)).identity;
  static const std::uintptr_t own = place_of(reinterpret_cast<std::uintptr_t>(&caller_of)).identity;
  const Place caller = place_of(return_address - 1);
  if (caller.identity == 0) return Caller::program;
  if (caller.identity == library || caller.identity == own) return Caller::other;
  if (caller.is_plugin) return Caller::other;
  if (!caller.is_tool) return Caller::program;
  const char* const function = function_at(return_address - 1);
  const bool forwards = function != nullptr && wraps(function, recorded_procedures[procedure].name);
  return forwards ? Caller::wrapper : Caller::other;
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
