#include "abi/flavour/recorded_caller.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cctype>
#include <string>
#include <string_view>

#include "abi/flavour/native.h"
#include "abi/flavour/recorded_call.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

/// What the dynamic linker knows of an address; all null where no object has it.
Dl_info place_of(std::uintptr_t address) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(address), &found) == 0) return {};
  return found;
}

std::string_view or_empty(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

/// Whether a shared object has procedures of MPI of its own: a tool that wraps them. A program that
/// has some is a program.
bool is_tool(const Dl_info& object) {
  static const void* const program = place_of(getauxval(AT_PHDR)).dli_fbase;
  if (object.dli_fbase == program) return false;
  void* const handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  // The look-up goes on in what the object needs.
  const void* const found = dlsym(handle, "MPI_Finalize");
  dlclose(handle);
  return found != nullptr &&
         place_of(reinterpret_cast<std::uintptr_t>(found)).dli_fbase == object.dli_fbase;
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
  static const void* const library =
      place_of(reinterpret_cast<std::uintptr_t>(native.Comm_rank)).dli_fbase;
  static const void* const own = place_of(reinterpret_cast<std::uintptr_t>(&caller_of)).dli_fbase;
  const Dl_info caller = place_of(return_address - 1);
  if (caller.dli_fbase == nullptr) return Caller::program;
  if (caller.dli_fbase == library || caller.dli_fbase == own) return Caller::other;
  const std::string_view path = or_empty(caller.dli_fname);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with("mca_")) return Caller::other;  // plugins of Open MPI
  if (!is_tool(caller)) return Caller::program;
  const bool forwards = wraps(or_empty(caller.dli_sname), recorded_procedures[procedure].name);
  return forwards ? Caller::wrapper : Caller::other;
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
