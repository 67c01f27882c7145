#include "abi/front/io_slots.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi/front/front_library.h"
#include "base/elf_object.h"
#include "base/loaded_objects.h"
#include "base/message.h"
#include "base/result.h"
#include "base/settings.h"
#include "posix/descriptors.h"
#include "posix/functions.h"
#include "record/recorder.h"

namespace headrace::abi {
namespace {

/// Files of MPI libraries, and of what they load behind MPI_Init, by the beginnings of their names.
constexpr std::array kOfLibrary = {"mca_",   "libmpi",    "libopen-", "libprrte", "libpmix",
                                   "pmix_",  "libucp",    "libuct",   "libucs",   "libucm",
                                   "libucx", "libfabric", "libpsm",   "libefa",   "libibverbs",
                                   "libmlx", "librdmacm", "libmunge", "libhwloc", "libevent"};

struct LoadedObject {
  std::string name;  ///< its soname, or its file's name; the program's is empty
  std::vector<std::string> needs;
  bool is_of_library = false;
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string name_of(const ElfObject& object) {
  const std::string_view soname = object.soname();
  return std::string(soname.empty() ? file_name(object.path()) : soname);
}

/// By identity and path.
using Objects = std::set<std::pair<std::uintptr_t, std::string>>;

std::pair<std::uintptr_t, std::string> key_of(const ElfObject& object) {
  return {object.identity(), object.path()};
}

/// What the MPI library loaded itself: there was nothing of it before MPI_Init.
struct Startup {
  Objects before;
  Objects loaded;
};

Startup& startup() {
  static auto& only = *new Startup;
  return only;
}

bool is_of_library(const ElfObject& object, std::string_view name) {
  if (!object.is_library()) return false;
  if (startup().loaded.contains(key_of(object))) return true;
  if (name.ends_with("-fi.so")) return true;  // providers of libfabric
  for (const std::string_view beginning : kOfLibrary) {
    if (name.starts_with(beginning)) return true;
  }
  return object.defines("PMPI_Init") || object.defines("pmpi_init_");
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> all;
  for_each_object([&](const ElfObject& object) {
    LoadedObject one{name_of(object), {}, false};
    one.is_of_library = is_of_library(object, one.name);
    object.for_each_need([&](std::string_view need) { one.needs.emplace_back(need); });
    all.push_back(std::move(one));
  });
  return all;
}

/// The names of objects that are the program's: those that nobody needs, and what they need other
/// than through the MPI library.
std::set<std::string> program_objects() {
  const std::vector<LoadedObject> all = loaded_objects();
  std::map<std::string_view, const LoadedObject*> by_name;
  std::set<std::string_view> needed;
  for (const LoadedObject& one : all) {
    by_name.emplace(one.name, &one);
    needed.insert(one.needs.begin(), one.needs.end());
  }
  std::vector<const LoadedObject*> waiting;
  for (const LoadedObject& one : all) {
    if (!one.is_of_library && !needed.contains(one.name)) waiting.push_back(&one);
  }
  std::set<std::string> found;
  while (!waiting.empty()) {
    const LoadedObject* const one = waiting.back();
    waiting.pop_back();
    if (one->is_of_library || !found.insert(one->name).second) continue;
    for (const std::string& need : one->needs) {
      const auto place = by_name.find(need);
      if (place != by_name.end()) waiting.push_back(place->second);
    }
  }
  return found;
}

/// A function, and whether an object has one of its own of the same name, which slots that are not
/// bound yet may mean.
struct Target {
  const posix::Function* function;
  bool is_ambiguous = false;
};

using Targets = std::unordered_map<std::string_view, Target>;

/// The C library, which its own functions do not reach through slots, and the dynamic linker.
bool is_of_system(const ElfObject& object) {
  const std::string_view name = object.soname();
  return name.starts_with("libc.so.") || name.starts_with("ld-linux") ||
         name.starts_with("ld64.") || name.starts_with("libpthread.so.") ||
         name.starts_with("librt.so.");
}

/// By name; those that are there.
Targets targets() {
  Targets made;
  for (const posix::Function& one : posix::functions()) {
    if (one.native[0] != nullptr) made.emplace(one.name, Target{&one});
  }
  for_each_object([&](const ElfObject& object) {
    if (is_of_system(object) || is_front_library(object) || posix::is_tool(object.path())) return;
    if (object.soname().starts_with("liburing.")) return;
    for (auto& [name, target] : made) target.is_ambiguous |= object.defines(name);
  });
  return made;
}

/// A slot leads to the function if it holds its address, or will when it is bound. What the program
/// has put there itself is left alone, as is data, which it may have changed.
bool leads_to(const ElfObject& object, const Slot& slot, const Target& target, const void* value) {
  if (slot.kind == Slot::Kind::data) return false;
  if (target.function->is_at(value)) return true;
  return !target.is_ambiguous && object.is_unbound(slot, value);
}

void lead(const ElfObject& object, const Targets& all) {
  object.for_each_slot([&](const Slot& slot) {
    const auto found = all.find(slot.name);
    if (found == all.end()) return;
    void* const value = __atomic_load_n(slot.word, __ATOMIC_ACQUIRE);
    if (!leads_to(object, slot, found->second, value)) return;
    if (!object.replace(slot, value, found->second.function->stand_in)) {
      print_message_once("some I/O of " + std::string(object.path()) +
                         " is not recorded (its memory cannot be changed), report this system");
    }
  });
}

/// Objects that were looked at; forgotten when any is unloaded. The holder of the mutex waits for
/// nobody who loads objects.
struct Seen {
  std::mutex mutex;
  std::set<std::uintptr_t> objects;
  unsigned long long unloaded = 0;
  std::atomic<unsigned long long> loaded = 0;
  std::atomic<bool> is_wanted = false;
};

Seen& seen() {
  static auto& only = *new Seen;  // never destroyed: calls arrive during exit, too
  return only;
}

}  // namespace

void note_objects_before_init() noexcept {
  if (settings().disable || !settings().record || !settings().record_files) return;
  const Error lost = attempt([]() -> Error {
    for_each_object([](const ElfObject& object) { startup().before.insert(key_of(object)); });
    return {};
  });
  if (lost) startup().before.clear();
}

bool start_io() noexcept {
  if (!record::is_recording || record::access_table() == nullptr || !ElfObject::knows_slots()) {
    return false;
  }
  if (!startup().before.empty()) {
    const Error lost = attempt([]() -> Error {
      for_each_object([](const ElfObject& object) {
        if (!startup().before.contains(key_of(object))) startup().loaded.insert(key_of(object));
      });
      return {};
    });
    if (lost) return false;
  }
  posix::functions();
  seen().is_wanted = posix::prepare_descriptors();
  return seen().is_wanted;
}

bool may_have_new_io() noexcept {
  return seen().is_wanted && loaded_object_count() != seen().loaded;
}

void lead_io_slots(const SettledObjects& settled) {
  if (!seen().is_wanted) return;
  const std::lock_guard lock(seen().mutex);
  if (std::exchange(seen().unloaded, settled.unloaded()) != settled.unloaded()) {
    seen().objects.clear();
  }
  const std::set<std::string> wanted = program_objects();
  const Targets all = targets();
  const bool is_complete = settled.for_each([&](const ElfObject& object) {
    if (!wanted.contains(name_of(object)) || is_of_system(object) || is_front_library(object) ||
        posix::is_tool(object.path()) || seen().objects.contains(object.identity())) {
      return;
    }
    lead(object, all);
    seen().objects.insert(object.identity());
  });
  if (is_complete) seen().loaded = settled.loaded();
}

}  // namespace headrace::abi
