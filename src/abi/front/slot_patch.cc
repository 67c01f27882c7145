#include "abi/front/slot_patch.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "abi/front/chain.h"
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

void add(void* library, Name name, Entry entry) {
  const char* const* const symbols = entry_symbols[static_cast<int>(entry)];
  const std::string symbol = symbols[static_cast<int>(name)];
  Caught caught;
  caught.native = ::dlsym(library, symbol.c_str());
  if (caught.native == nullptr) return;
  const bool is_exported = static_cast<int>(entry) < kExportedCount;
  caught.ours = exported_function(is_exported ? symbol : "headrace_" + symbol);
  if (caught.ours == nullptr) return;
  find_tool(symbol, symbols[static_cast<int>(Name::pmpi)], caught);
  caught_procedures().emplace(symbol, caught);
}

void add(void* library, const Extension& extension) {
  void* const native = ::dlsym(library, extension.name);
  if (native != nullptr) caught_procedures()[extension.name] = {native, extension.function};
}

/// What the Fortran layer is to call for MPI_Register_datarep; null where that is C's.
void* register_fortran_datarep = nullptr;

/// A name of MPI_Register_datarep, and whether it leads to us or is to.
struct RegisterName {
  std::string_view name;
  bool is_ours;
  void* caught = nullptr;  ///< the library's, where that is caught
};

/// Asked of the dynamic linker before objects are visited: dlsym takes a lock that dlopen has when
/// it waits for the one that is held during a visit.
std::array<RegisterName, 2> register_names() {
  std::array<RegisterName, 2> names{
      {{"MPI_Register_datarep", false}, {"PMPI_Register_datarep", false}}};
  for (RegisterName& entry : names) {
    const auto found = caught_procedures().find(std::string(entry.name));
    if (found != caught_procedures().end()) entry.caught = found->second.native;
    entry.is_ours = entry.caught != nullptr
                        ? found->second.tool == nullptr
                        : is_in_this_library(::dlsym(RTLD_DEFAULT, entry.name.data()));
  }
  return names;
}

/// Whether an object has the Fortran procedure, as the libraries name it for mpif.h and mpi_f08.
bool is_fortran_layer(const ElfObject& object) {
  return object.is_library() &&
         (object.defines("mpi_register_datarep_") || object.defines("mpi_register_datarep_f08_"));
}

/// Leads the calls of MPI_Register_datarep in an object of the Fortran layer, where they would come
/// to us, to the function that knows Fortran's conventions.
void patch_fortran(const ElfObject& object, std::span<const RegisterName> names) {
  if (register_fortran_datarep == nullptr) return;
  object.for_each_slot([&](std::string_view name, void** slot) {
    const auto found = std::ranges::find(names, name, &RegisterName::name);
    if (found == names.end()) return;
    const bool is_bound = !object.contains(reinterpret_cast<std::uintptr_t>(*slot));
    const bool is_caught = *slot != nullptr && *slot == found->caught;
    if (is_bound ? !is_in_this_library(*slot) && !is_caught : !found->is_ours) return;
    if (!object.store(slot, register_fortran_datarep)) {
      tell_once("data representations of Fortran are not carried (the memory of " +
                std::string(object.path()) + " cannot be changed), report this system");
    }
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

void patch(const ElfObject& object, bool is_fortran) {
  const auto& procedures = caught_procedures();
  object.for_each_slot([&](std::string_view name, void** slot) {
    if (!name.starts_with("MPI") && !name.starts_with("PMPI")) return;
    const auto found = procedures.find(std::string(name));
    // Fortran passes procedures of its own there, which are called in another way than C's.
    if (name.find("_Register_datarep") != name.npos && is_fortran) return;
    if (found == procedures.end() || !leads_to_library(object, found->second, *slot)) return;
    if (!object.store(slot, found->second.ours)) {
      tell_once("some calls of " + std::string(object.path()) +
                " are not carried (its memory cannot be changed), report this system");
    }
  });
}

}  // namespace

void set_caught_flavour(const Flavour* flavour, void* library) {
  const std::lock_guard lock(mutex);
  register_fortran_datarep = flavour->register_fortran_datarep;
  for (int i = is_front_library_loaded() ? 0 : kExportedCount; i < kEntryCount; ++i) {
    const auto entry = static_cast<Entry>(i);
    if (i >= kExportedCount && !is_wrapped(entry)) continue;
    for (const Name name : {Name::mpi, Name::pmpi}) add(library, name, entry);
  }
  for (const Extension& extension : flavour->extensions) add(library, extension);
}

void catch_unexported() {
  const std::lock_guard lock(mutex);
  if (caught_procedures().empty() && register_fortran_datarep == nullptr) return;
  const unsigned long long count = loaded_object_count();
  if (count == seen_object_count) return;
  // Without memory the next call tries again: this one must go on, since other ranks wait for it.
  const Error lost = attempt([]() -> Error {
    const auto names = register_names();
    for_each_object([&](const ElfObject& object) {
      const bool is_fortran = is_fortran_layer(object);
      patch(object, is_fortran);
      if (is_fortran) patch_fortran(object, names);
    });
    return {};
  });
  if (!lost) seen_object_count = count;
}

}  // namespace headrace::abi
