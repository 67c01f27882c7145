#include "abi/front/slot_patch.h"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "abi/front/elf_object.h"
#include "base/message.h"

namespace headrace::abi {
namespace {

/// One procedure under one of its two names.
struct Caught {
  void* native = nullptr;  ///< what the library has
  void* ours = nullptr;
  bool resolves_to_tool = false;  ///< the name leads to another tool's function
};

std::mutex mutex;
unsigned long long seen_object_count = 0;

/// By the full name, MPI_X_c or PMPI_X_c. Empty where the library has none of them. Never
/// destroyed: calls arrive during exit too.
std::unordered_map<std::string, Caught>& caught_procedures() {
  static auto& map = *new std::unordered_map<std::string, Caught>;
  return map;
}

/// Whether undefined symbols of this name are bound to a function that is not the library's.
bool resolves_to_tool(const std::string& name, void* native) {
  void* const visible = ::dlsym(RTLD_DEFAULT, name.c_str());
  if (visible == nullptr || visible == native) return false;
  bool is_defined = false;
  for_each_object([&](const ElfObject& object) {
    if (object.contains(reinterpret_cast<std::uintptr_t>(visible))) {
      is_defined = object.defines(name);
    }
  });
  return is_defined;
}

void add(const Flavour& flavour, void* library, Name name, Entry entry) {
  const std::string full_name =
      std::string(name == Name::mpi ? "MPI_" : "PMPI_") + entry_names[static_cast<int>(entry)];
  Caught caught;
  caught.native = ::dlsym(library, full_name.c_str());
  if (caught.native == nullptr) return;
  caught.ours = flavour.entry_function(name, entry);
  caught.resolves_to_tool = resolves_to_tool(full_name, caught.native);
  caught_procedures().emplace(full_name, caught);
}

/// Whether a slot leads to the library: it holds the procedure's address, or it is not bound yet
/// and still points into the object's own code.
bool leads_to_library(const ElfObject& object, const Caught& caught, void* value) {
  if (value == nullptr || value == caught.ours) return false;
  if (value == caught.native) return true;
  return !caught.resolves_to_tool && object.contains(reinterpret_cast<std::uintptr_t>(value));
}

void patch(const ElfObject& object) {
  const auto& procedures = caught_procedures();
  object.for_each_slot([&](std::string_view name, void** slot) {
    if (!name.starts_with("MPI_") && !name.starts_with("PMPI_")) return;
    const auto found = procedures.find(std::string(name));
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
  for (int i = kExportedCount; i < kEntryCount; ++i) {
    for (const Name name : {Name::mpi, Name::pmpi}) {
      add(*flavour, library, name, static_cast<Entry>(i));
    }
  }
}

void catch_unexported() {
  const std::lock_guard lock(mutex);
  if (caught_procedures().empty()) return;
  const unsigned long long count = loaded_object_count();
  if (count == seen_object_count) return;
  seen_object_count = count;
  for_each_object(patch);
}

}  // namespace headrace::abi
