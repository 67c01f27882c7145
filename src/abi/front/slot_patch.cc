#include "abi/front/slot_patch.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "abi/front/chain.h"
#include "abi/front/front_library.h"
#include "abi/front/io_slots.h"
#include "abi/front/next.h"
#include "abi/front/program_objects.h"
#include "abi/front/trace_slots.h"
#include "base/elf_object.h"
#include "base/loaded_objects.h"
#include "base/message.h"
#include "base/result.h"
#include "base/settled_objects.h"

namespace headrace::abi {
namespace {

void notice_objects();

/// One procedure under one of its two names.
struct InterceptedProcedure {
  void* native = nullptr;  ///< the library's function
  void* ours = nullptr;
  void* tool = nullptr;  ///< another tool's function, if the name leads to one
  bool passes_by_us =
      false;  ///< the tool's function calls the library's without a slot of its object
};

std::mutex mutex;
std::atomic<bool> is_catching = false;
std::atomic<unsigned long long> seen_object_count = 0;

/// By full name, MPI_X_c or PMPI_X_c. Empty if the library has none of them. Never destroyed: calls
/// arrive during exit, too.
std::unordered_map<std::string, InterceptedProcedure>& intercepted_procedures() {
  static auto& map = *new std::unordered_map<std::string, InterceptedProcedure>;
  return map;
}

/// What an undefined symbol of this name is bound to in objects that see the program's scope.
void* visible_to_program(const std::string& name) {
  static void* const program = ::dlopen(nullptr, RTLD_LAZY);
  return ::dlsym(program, name.c_str());
}

bool has_slot(const ElfObject& object, std::string_view wanted) {
  bool found = false;
  object.for_each_slot([&](const Slot& slot) { found = found || slot.name == wanted; });
  return found;
}

/// Finds another tool's function to which undefined symbols of this name are bound. A tool that
/// looks the library's function up by dlsym, as Darshan does, would pass it a file that is ours.
/// Such calls cannot be caught, so calls of other objects are caught before they reach the tool.
void find_tool(const std::string& name, const std::string& library_name,
               InterceptedProcedure& caught) {
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

/// Catches those of a procedure's symbols that the library has.
void add(void* library, Name name, Entry entry) {
  const std::string symbol = entry_symbols[static_cast<int>(entry)][static_cast<int>(name)];
  const char* const library_symbol = entry_symbols[static_cast<int>(entry)][1];
  const bool is_exported = static_cast<int>(entry) < kExportedCount;
  void* const ours = exported_function(is_exported ? symbol : "headrace_" + symbol);
  if (ours == nullptr) return;
  visit_symbols(name, entry, [&](const char* each) {
    InterceptedProcedure caught;
    caught.native = ::dlsym(library, each);
    caught.ours = ours;
    if (caught.native == nullptr || intercepted_procedures().contains(each)) return false;
    find_tool(each, library_symbol, caught);
    intercepted_procedures().emplace(each, caught);
    return false;
  });
}

/// Stand-ins for the linker's functions that find symbols. They first check whether a new object
/// was loaded. A program that loads an object calls it by what these return, so the object's calls
/// are caught before the first. The linker must see its caller, so these must be jumps in every
/// build.
#define HEADRACE_JUMP __attribute__((noinline, no_sanitize_thread, optimize("O2")))
void* (*find_symbol)(void*, const char*) = nullptr;
void* (*find_version)(void*, const char*, const char*) = nullptr;

HEADRACE_JUMP void* notice_and_find_symbol(void* handle, const char* symbol) {
  notice_objects();
  return find_symbol(handle, symbol);
}

HEADRACE_JUMP void* notice_and_find_version(void* handle, const char* symbol, const char* version) {
  notice_objects();
  return find_version(handle, symbol, version);
}

template <class Function>
void add_finder(const char* name, Function*& next, Function* ours) {
  void* const native = visible_to_program(name);
  if (native == nullptr) return;
  next = reinterpret_cast<Function*>(native);
  intercepted_procedures()[name] = {native, reinterpret_cast<void*>(ours)};
}

void add_finders() {
  add_finder("dlsym", find_symbol, &notice_and_find_symbol);
  add_finder("dlvsym", find_version, &notice_and_find_version);
}

void add(void* library, const Extension& extension) {
  void* const native = ::dlsym(library, extension.name);
  if (native != nullptr) intercepted_procedures()[extension.name] = {native, extension.function};
}

/// What the Fortran layer must call for MPI_Register_datarep; null if that is C's procedure.
void* register_fortran_datarep = nullptr;

/// A name of MPI_Register_datarep, and whether it leads to us or must be made to.
struct RegisterName {
  std::string_view name;
  bool is_ours;
  void* caught = nullptr;  ///< the library's function, if that is caught

  bool operator==(const RegisterName&) const = default;
};

/// Asks the dynamic linker before objects are visited: dlsym takes a lock that dlopen holds while
/// it waits for the lock of a visit.
std::array<RegisterName, 2> register_names() {
  std::array<RegisterName, 2> names{
      {{"MPI_Register_datarep", false}, {"PMPI_Register_datarep", false}}};
  for (RegisterName& entry : names) {
    const auto found = intercepted_procedures().find(std::string(entry.name));
    if (found != intercepted_procedures().end()) entry.caught = found->second.native;
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

/// In an object of the Fortran layer, redirects calls of MPI_Register_datarep that would reach us
/// to the function that knows Fortran's conventions.
void patch_fortran(const ElfObject& object, std::span<const RegisterName> names) {
  if (register_fortran_datarep == nullptr) return;
  object.for_each_slot([&](const Slot& slot) {
    const auto found = std::ranges::find(names, slot.name, &RegisterName::name);
    if (found == names.end()) return;
    void* const value = __atomic_load_n(slot.word, __ATOMIC_ACQUIRE);
    const bool is_caught = value != nullptr && value == found->caught;
    const bool is_meant =
        object.is_unbound(slot, value) ? found->is_ours : is_in_this_library(value) || is_caught;
    if (!is_meant) return;
    if (!object.replace(slot, value, register_fortran_datarep)) {
      print_message_once("data representations of Fortran are not carried (the memory of " +
                         std::string(object.path()) + " cannot be changed), report this system");
    }
  });
}

/// Whether a slot leads to the library past us: it holds the procedure's address or that of a tool
/// that bypasses us, or it is not bound yet.
bool leads_to_library(const ElfObject& object, const Slot& slot, const InterceptedProcedure& caught,
                      void* value) {
  if (value == nullptr || value == caught.ours) return false;
  if (value == caught.native) return true;
  if (caught.tool != nullptr && !caught.passes_by_us) return false;
  return value == caught.tool || object.is_unbound(slot, value);
}

/// Whether a name is worth a look-up.
bool may_be_caught(const char* name) {
  switch (name[0]) {
    case 'M': return std::strncmp(name, "MPI", 3) == 0;
    case 'm': return std::strncmp(name, "mpi_", 4) == 0;
    case 'P': return std::strncmp(name, "PMPI", 4) == 0;
    case 'p': return std::strncmp(name, "pmpi", 4) == 0;
    case 'd': return std::strcmp(name, "dlsym") == 0 || std::strcmp(name, "dlvsym") == 0;
    default: return false;
  }
}

void patch(const ElfObject& object, bool is_fortran) {
  const auto& procedures = intercepted_procedures();
  object.for_each_slot(
      [&](const Slot& slot) {
        const std::string_view name = slot.name;
        const auto found = procedures.find(std::string(name));
        // Fortran passes its own procedures here, which are called in another way than C's.
        if (name.find("_Register_datarep") != name.npos && is_fortran) return;
        if (found == procedures.end()) return;
        void* const value = __atomic_load_n(slot.word, __ATOMIC_ACQUIRE);
        if (!leads_to_library(object, slot, found->second, value)) return;
        // If a tool has a dlsym of its own, its calls mean that one.
        if (name.starts_with("dl") && object.defines(name)) return;
        if (!object.replace(slot, value, found->second.ours)) {
          print_message_once("some calls of " + std::string(object.path()) +
                             " are not carried (its memory cannot be changed), report this system");
        }
      },
      &may_be_caught);
}

/// Catches Fortran's procedures, whose symbols are in objects of their own.
void add_fortran_procedures() {
  static auto& seen = *new std::unordered_set<std::string>;
  std::vector<std::string> found;
  for_each_object([&](const ElfObject& object) {
    if (is_fortran_layer(object) && seen.insert(object.path()).second)
      found.emplace_back(object.path());
  });
  for (const std::string& path : found) {
    void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    add_fortran_library(library);
    for (int i = kFortranBegin; i < kEntryCount; ++i) {
      const auto entry = static_cast<Entry>(i);
      if (!is_wrapped(entry)) continue;
      for (const Name name : {Name::mpi, Name::pmpi}) add(library, name, entry);
    }
  }
}

bool may_have_new_objects() {
  return is_catching.load(std::memory_order_acquire) &&
         loaded_object_count() != seen_object_count.load(std::memory_order_relaxed);
}

/// How often objects were looked at: a library of C++ takes a millisecond each time. Once is not
/// enough: the linker may bind a slot for another thread while it is looked at.
struct SeenObjects {
  static constexpr int kEnough = 2;
  std::unordered_map<std::uintptr_t, int> looks;  ///< by the objects' identities
  std::size_t procedures = 0;                     ///< that were looked for
  unsigned long long unloaded = 0;
  std::array<RegisterName, 2> names{};

  /// Forgets them all if others are looked for now, or if another object may be where one was.
  void forget_if_changed(SeenObjects now) {
    if (procedures == now.procedures && unloaded == now.unloaded && names == now.names) return;
    *this = std::move(now);
  }
};

/// Guarded by the mutex.
void catch_in_objects(const SettledObjects& settled) {
  if (settled.loaded() == seen_object_count) return;
  // Without memory, the next call tries again. This call must go on, since other ranks wait for it.
  bool is_complete = false;
  const Error lost = attempt([&]() -> Error {
    if (kFortranBegin < kEntryCount) add_fortran_procedures();
    static auto& seen = *new SeenObjects;
    const auto names = register_names();
    seen.forget_if_changed({{}, intercepted_procedures().size(), settled.unloaded(), names});
    is_complete = settled.for_each([&](const ElfObject& object) {
      int& looks = seen.looks[object.identity()];
      if (looks == SeenObjects::kEnough) return;
      const bool is_fortran = is_fortran_layer(object);
      patch(object, is_fortran);
      if (is_fortran) patch_fortran(object, names);
      ++looks;
    });
    return {};
  });
  if (!lost && is_complete) seen_object_count = settled.loaded();
}

/// Waits for those who load objects, then calls take(objects). Without memory, the next call tries
/// again.
template <class Take>
void with_settled_objects(Take take) {
  (void)attempt([&]() -> Error {
    take(SettledObjects::of_now());
    return {};
  });
}

bool may_have_new_calls() {
  return may_have_new_io() || may_have_new_traces();
}

/// Stubs of traced functions call stand-ins.
void lead_calls(const SettledObjects& settled) {
  lead_io_slots(settled);
  lead_traced_slots(settled);
}

/// For functions that may run while the linker loads an object. Does not wait for the mutex: its
/// holder may wait for the linker's lock, and looks at new objects itself.
void notice_objects() {
  const bool has_calls = may_have_new_calls();
  if (!has_calls && !may_have_new_objects()) return;
  with_settled_objects([&](const SettledObjects& settled) {
    if (has_calls) lead_calls(settled);
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock && is_catching) catch_in_objects(settled);
  });
}

}  // namespace

void set_caught_flavour(const Flavour* flavour, void* library) {
  const std::lock_guard lock(mutex);
  register_fortran_datarep = flavour->register_fortran_datarep;
  for (int i = is_front_library_loaded() ? 0 : kExportedCount; i < kFortranBegin; ++i) {
    const auto entry = static_cast<Entry>(i);
    if (i >= kExportedCount && !is_wrapped(entry)) continue;
    for (const Name name : {Name::mpi, Name::pmpi}) add(library, name, entry);
  }
  for (const Extension& extension : flavour->extensions) add(library, extension);
  const bool has_caught = !intercepted_procedures().empty() || kFortranBegin < kEntryCount;
  if (has_caught) add_finders();
  is_catching = has_caught || register_fortran_datarep != nullptr;
}

void catch_unexported() {
  const bool has_calls = may_have_new_calls();
  if (!has_calls && !may_have_new_objects()) return;
  with_settled_objects([&](const SettledObjects& settled) {
    if (has_calls) lead_calls(settled);
    const std::lock_guard lock(mutex);
    if (is_catching) catch_in_objects(settled);
  });
}

void catch_calls() {
  if (!note_objects_after_init()) return;
  const bool has_io = start_io();
  if (!start_traces() && !has_io) return;
  {
    const std::lock_guard lock(mutex);
    if (!is_catching) add_finders();
    is_catching = true;
    seen_object_count = 0;
  }
  catch_unexported();
}

}  // namespace headrace::abi
