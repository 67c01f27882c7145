#include "abi/front/slot_patch.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/front/elf_object.h"
#include "abi/front/front_library.h"
#include "base/loaded_objects.h"
#include "base/message.h"
#include "base/result.h"

namespace headrace::abi {
namespace {

/// One procedure under one of its two names.
struct Caught {
  void* native = nullptr;  ///< what the library has
  void* ours = nullptr;
  void* tool = nullptr;       ///< another tool's function, where the name leads to one
  bool passes_by_us = false;  ///< that function calls the library's without a slot of its object
};

std::mutex mutex;
unsigned long long seen_object_count = 0;

/// By the full name, MPI_X_c or PMPI_X_c. Empty where the library has none of them. Never
/// destroyed: calls arrive during exit too.
std::unordered_map<std::string, Caught>& caught_procedures() {
  static auto& map = *new std::unordered_map<std::string, Caught>;
  return map;
}

/// What an undefined symbol of this name is bound to in objects that see the program's own scope.
void* visible_to_program(const std::string& name) {
  static void* const program = ::dlopen(nullptr, RTLD_LAZY);
  return ::dlsym(program, name.c_str());
}

bool has_slot(const ElfObject& object, std::string_view wanted) {
  bool found = false;
  object.for_each_slot([&](std::string_view name, void**) { found = found || name == wanted; });
  return found;
}

/// Finds the function that is not the library's to which undefined symbols of this name are bound.
/// A tool that looks the library's function up by dlsym, as Darshan does, would give it a file that
/// is ours. Its calls cannot be caught, so those of others are before they come to it.
void find_tool(const std::string& name, const std::string& library_name, Caught& caught) {
  void* const visible = visible_to_program(name);
  if (visible == nullptr || visible == caught.native) return;
  for_each_object([&](const ElfObject& object) {
    if (!object.contains(reinterpret_cast<std::uintptr_t>(visible)) || !object.defines(name) ||
        is_front_library(object)) {
      return;
    }
    caught.tool = visible;
    caught.passes_by_us = object.defines(library_name) || !has_slot(object, library_name);
  });
}

/// The function of this name that this library exports.
void* exported_function(const std::string& name) {
  static void* const own = [] {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&visible_to_program), &info) == 0)
      return static_cast<void*>(nullptr);
    return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return own == nullptr ? nullptr : ::dlsym(own, name.c_str());
}

void add(const Flavour& flavour, void* library, Name name, Entry entry) {
  const std::string library_name = std::string("PMPI_") + entry_names[static_cast<int>(entry)];
  const std::string full_name = name == Name::mpi ? library_name.substr(1) : library_name;
  Caught caught;
  caught.native = ::dlsym(library, full_name.c_str());
  if (caught.native == nullptr) return;
  caught.ours = static_cast<int>(entry) < kExportedCount ? exported_function(full_name)
                                                         : flavour.entry_function(name, entry);
  if (caught.ours == nullptr) return;
  find_tool(full_name, library_name, caught);
  caught_procedures().emplace(full_name, caught);
}

/// Whether an object has the Fortran procedure, as the libraries name it for mpif.h and mpi_f08.
bool is_fortran_layer(const ElfObject& object) {
  return object.is_library() &&
         (object.defines("mpi_register_datarep_") || object.defines("mpi_register_datarep_f08_"));
}

/// Whether an object marks error handlers as those of MPICH's C++ bindings.
bool is_cxx_layer(const ElfObject& object) {
  return object.is_library() && (has_slot(object, "MPII_Errhandler_set_cxx") ||
                                 has_slot(object, "MPIR_Errhandler_set_cxx"));
}

/// A procedure to which a layer of the library passes functions that are called in another way than
/// C's.
struct Redirect {
  std::string_view procedure;
  bool (*is_layer)(const ElfObject&);
  void* function = nullptr;  ///< what the layer is to call; null where it passes C's
};

std::array<Redirect, 2>& redirects() {
  static std::array<Redirect, 2> both{
      {{"MPI_Register_datarep", &is_fortran_layer}, {"MPI_File_create_errhandler", &is_cxx_layer}}};
  return both;
}

bool has_redirects() {
  return std::ranges::any_of(redirects(), [](const Redirect& own) { return own.function != nullptr; });
}

/// A name of a redirected procedure, and whether it leads to us or is to.
struct RedirectedName {
  std::string name;
  const Redirect* redirect;
  bool is_ours = false;
  void* caught = nullptr;  ///< the library's, where that is caught
};

/// Asked of the dynamic linker before objects are visited: dlsym takes a lock that dlopen has when
/// it waits for the one that is held during a visit.
std::vector<RedirectedName> redirected_names() {
  std::vector<RedirectedName> names;
  for (const Redirect& redirect : redirects()) {
    if (redirect.function == nullptr) continue;
    for (const char* const prefix : {"", "P"}) {
      RedirectedName own{prefix + std::string(redirect.procedure), &redirect};
      const auto found = caught_procedures().find(own.name);
      if (found != caught_procedures().end()) own.caught = found->second.native;
      own.is_ours = own.caught != nullptr
                        ? found->second.tool == nullptr
                        : is_in_this_library(::dlsym(RTLD_DEFAULT, own.name.c_str()));
      names.push_back(own);
    }
  }
  return names;
}

/// Of the layers that `object` is. No name where it is none.
std::vector<RedirectedName> names_of(const ElfObject& object,
                                     std::span<const RedirectedName> names) {
  std::vector<RedirectedName> own;
  std::ranges::copy_if(names, std::back_inserter(own), [&](const RedirectedName& name) {
    return name.redirect->is_layer(object);
  });
  return own;
}

void tell_unchangeable(const ElfObject& object) {
  tell_once("some calls of " + std::string(object.path()) +
            " are not carried (its memory cannot be changed), report this system");
}

/// Leads the calls of these procedures in a layer, where they would come to us, to the functions
/// that know its conventions.
void redirect(const ElfObject& object, std::span<const RedirectedName> names) {
  object.for_each_slot([&](std::string_view name, void** slot) {
    const auto found = std::ranges::find(names, name, &RedirectedName::name);
    if (found == names.end()) return;
    const bool is_bound = !object.contains(reinterpret_cast<std::uintptr_t>(*slot));
    const bool is_caught = *slot != nullptr && *slot == found->caught;
    if (is_bound ? !is_in_this_library(*slot) && !is_caught : !found->is_ours) return;
    if (!object.store(slot, found->redirect->function)) tell_unchangeable(object);
  });
}

/// Whether a slot leads to the library past us: it holds the procedure's address, or that of a tool
/// which passes by us, or it is not bound yet and still points into the object's own code.
bool leads_to_library(const ElfObject& object, const Caught& caught, void* value) {
  if (value == nullptr || value == caught.ours) return false;
  if (value == caught.native) return true;
  if (caught.tool != nullptr && !caught.passes_by_us) return false;
  return value == caught.tool || object.contains(reinterpret_cast<std::uintptr_t>(value));
}

void patch(const ElfObject& object, std::span<const RedirectedName> redirected) {
  const auto& procedures = caught_procedures();
  object.for_each_slot([&](std::string_view name, void** slot) {
    if (!name.starts_with("MPI_") && !name.starts_with("PMPI_")) return;
    if (std::ranges::find(redirected, name, &RedirectedName::name) != redirected.end()) return;
    const auto found = procedures.find(std::string(name));
    if (found == procedures.end() || !leads_to_library(object, found->second, *slot)) return;
    if (!object.store(slot, found->second.ours)) tell_unchangeable(object);
  });
}

}  // namespace

void set_caught_flavour(const Flavour* flavour, void* library) {
  const std::lock_guard lock(mutex);
  redirects()[0].function = flavour->register_fortran_datarep;
  redirects()[1].function = flavour->create_cxx_errhandler;
  for (int i = is_front_library_loaded() ? 0 : kExportedCount; i < kEntryCount; ++i) {
    for (const Name name : {Name::mpi, Name::pmpi}) {
      add(*flavour, library, name, static_cast<Entry>(i));
    }
  }
}

void catch_unexported() {
  const std::lock_guard lock(mutex);
  if (caught_procedures().empty() && !has_redirects()) return;
  const unsigned long long count = loaded_object_count();
  if (count == seen_object_count) return;
  // Without memory the next call tries again: this one must go on, since other ranks wait for it.
  const Error lost = attempt([]() -> Error {
    const auto names = redirected_names();
    for_each_object([&](const ElfObject& object) {
      const auto own = names_of(object, names);
      patch(object, own);
      if (!own.empty()) redirect(object, own);
    });
    return {};
  });
  if (!lost) seen_object_count = count;
}

}  // namespace headrace::abi
