#include "abi/front/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "abi/generated/entry.h"
#include "base/elf_object.h"

namespace headrace::abi {
namespace {

/// Tools define PMPI_Init and PMPI_File_open, too, as we do; only the library defines this
/// procedure.
constexpr const char* kMark = "PMPI_Type_get_contents";

struct Candidate {
  std::uintptr_t base = 0;
  Library library;
};

/// "libmpi.so.12" ends in ".so.12".
bool has_version(std::string_view soname, std::string_view version) {
  return soname.ends_with(version) || soname.find(std::string(version) + ".") != soname.npos;
}

/// The sonames' versions are the ABIs' own: 12 is the MPICH ABI Compatibility Initiative's, 40 is
/// what Open MPI 3, 4 and 5 share, libmpi_abi is the MPI Forum's name.
Abi find_abi(const ElfObject& object) {
  if (object.defines("ompi_mpi_comm_world")) {
    return has_version(object.soname(), ".so.40") ? Abi::openmpi : Abi::unknown;
  }
  if (object.soname().starts_with("libmpi_abi.so")) return Abi::standard;
  return has_version(object.soname(), ".so.12") ? Abi::mpich : Abi::unknown;
}

bool is_known(std::string_view symbol) {
  const auto is_entry = [&](const char* const(&names)[2]) { return symbol == names[0]; };
  const auto is_equal = [&](const char* known) { return symbol == known; };
  return std::any_of(std::begin(entry_symbols), std::end(entry_symbols), is_entry) ||
         std::any_of(std::begin(identity_symbols), std::end(identity_symbols), is_equal);
}

Candidate examine(const ElfObject& object) {
  Candidate candidate;
  candidate.base = object.base();
  candidate.library.path = object.path();
  candidate.library.abi = find_abi(object);
  object.for_each_definition([&](std::string_view name) {
    if (!name.starts_with("MPI_File_")) return;
    if (!is_known(name)) candidate.library.unknown_procedures.emplace_back(name);
    if (name.ends_with("_c")) candidate.library.has_large_counts = true;
  });
  return candidate;
}

/// The candidate to which the program's undefined symbols resolve, or null.
Candidate* find_visible(std::vector<Candidate>& candidates) {
  Dl_info info{};
  void* const mark = ::dlsym(RTLD_NEXT, kMark);
  if (mark == nullptr || ::dladdr(mark, &info) == 0) return nullptr;
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& own) {
    return own.base == reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  });
  return found == candidates.end() ? nullptr : &*found;
}

}  // namespace

Result<std::optional<Library>> find_library() {
  std::vector<Candidate> candidates;
  for_each_object([&](const ElfObject& object) {
    if (object.is_library() && object.defines(kMark) && object.defines("PMPI_Init")) {
      candidates.push_back(examine(object));
    }
  });
  if (candidates.empty()) return std::optional<Library>();
  Candidate* chosen = find_visible(candidates);
  if (chosen == nullptr && candidates.size() == 1) chosen = &candidates.front();
  if (chosen == nullptr) {
    return Error{ErrorClass::other, 0,
                 "staying out of the way (" + candidates[0].library.path + " and " +
                     candidates[1].library.path +
                     " are both loaded), start the program with one MPI"};
  }
  Library library = std::move(chosen->library);
  library.handle = ::dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library.handle == nullptr) {
    return Error{ErrorClass::other, 0,
                 "staying out of the way (" + library.path +
                     " cannot be opened again), load the MPI library by its full path"};
  }
  return std::optional<Library>(std::move(library));
}

}  // namespace headrace::abi
