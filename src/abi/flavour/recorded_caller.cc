#include "abi/flavour/recorded_caller.h"

#include <dlfcn.h>

#include <algorithm>
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
  bool is_fortran = false;  ///< a layer that has Fortran's procedures, and calls C's
};

/// Takes no memory.
Place place_of(std::uintptr_t address) {
  Place found;
  visit_object_at(reinterpret_cast<const void*>(address), [&](const ElfObject& object) {
    const std::string_view path = object.path();
    found.identity = object.identity();
    found.is_plugin = path.substr(path.rfind('/') + 1).starts_with("mca_");
    if (!object.is_library()) return;
    found.is_tool = object.defines("MPI_Finalize");
    found.is_fortran = object.defines("mpi_finalize_") || object.defines("mpi_finalize_f08_");
  });
  return found;
}

/// The name of the function that an address lies in; null if the linker has none.
const char* function_at(std::uintptr_t address) {
  Dl_info found{};
  return dladdr(reinterpret_cast<const void*>(address), &found) == 0 ? nullptr : found.dli_sname;
}

bool begins_with(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {},
                            [](char one) { return std::tolower(one); });
}

/// What is left of a name when all has gone by which languages, bindings and libraries differ: X of
/// MPI_X, PMPI_X_c, mpi_x_, mpi_x_f08ts_, ompi_x_f, MPIR_X_cdesc.
std::string_view bare(std::string_view name) {
  if (begins_with(name, "p")) name.remove_prefix(1);
  for (const std::string_view prefix : {"mpi_", "mpir_", "mpix_", "ompi_"}) {
    if (!begins_with(name, prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  constexpr std::string_view kEnds[] = {"_", "_c", "_f", "_f08", "_f08ts", "_large", "_cdesc"};
  for (bool is_bare = false; !is_bare;) {
    is_bare = true;
    for (const std::string_view end : kEnds) {
      if (!name.ends_with(end)) continue;
      name.remove_suffix(end.size());
      is_bare = false;
    }
  }
  return name;
}

/// Whether a function is MPI_X in some language and `name` is MPI_X.
bool wraps(std::string_view function, std::string_view name) {
  const auto lower = [](char one) { return std::tolower(one); };
  return std::ranges::equal(bare(function), bare(name), {}, lower, lower);
}

/// What Fortran layers call for themselves, too: to know how long the program's arrays are, and to
/// describe sections of arrays. Whatever else they call, the program has called.
bool may_be_the_layers_own(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "MPI_Comm_size",
      "MPI_Comm_rank",
      "MPI_Comm_test_inter",
      "MPI_Comm_remote_size",
      "MPI_Topo_test",
      "MPI_Cartdim_get",
      "MPI_Type_commit",
      "MPI_Type_contiguous",
      "MPI_Type_free",
      "MPI_Type_create_hvector",
      "MPI_Type_size",
      "MPI_Type_get_extent",
      "MPI_Type_vector",
      "MPI_Graph_neighbors_count",
      "MPI_Dist_graph_neighbors_count",
  };
  return std::ranges::count(kNames, name) != 0;
}

/// A function without a name is none that the program can call. One for datatypes may call C's by
/// a newer name.
bool is_the_layers_own(const char* function, std::string_view name) {
  if (!may_be_the_layers_own(name)) return false;
  if (function == nullptr) return true;
  const bool is_alike = begins_with(bare(function), "type_") && begins_with(bare(name), "type_");
  return !is_alike && !wraps(function, name);
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
  if (!caller.is_tool && !caller.is_fortran) return Caller::program;
  const char* const function = function_at(return_address - 1);
  const char* const name = recorded_procedures[procedure].name;
  if (!caller.is_tool) {
    return is_the_layers_own(function, name) ? Caller::other : Caller::program;
  }
  const bool forwards = function != nullptr && wraps(function, name);
  return forwards ? Caller::wrapper : Caller::other;
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
