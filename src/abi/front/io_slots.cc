#include "abi/front/io_slots.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
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
#include "posix/counting.h"
#include "posix/descriptors.h"
#include "posix/functions.h"
#include "record/recorder.h"

namespace headrace::abi {
namespace {

/// Files of MPI libraries, and of what they load, by the beginnings of their names.
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

bool is_of_library(const ElfObject& object, std::string_view name) {
  if (!object.is_library()) return false;
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

/// By name; those that are there.
const std::unordered_map<std::string_view, const posix::Function*>& functions_by_name() {
  static const auto& all = []() -> auto& {
    auto& made = *new std::unordered_map<std::string_view, const posix::Function*>;
    for (const posix::Function& one : posix::functions()) {
      if (one.found != nullptr) made.emplace(one.name, &one);
    }
    return made;
  }();
  return all;
}

/// The C library, which its own functions do not reach through slots, and the dynamic linker.
bool is_of_system(const ElfObject& object) {
  return object.contains(reinterpret_cast<std::uintptr_t>(&::getenv)) ||
         object.soname().starts_with("ld-") || object.soname().starts_with("libpthread.") ||
         object.soname().starts_with("librt.");
}

/// A slot leads to the function if it holds its address, or is not bound yet. An object that has a
/// function of this name means that one.
bool leads_to(const ElfObject& object, const posix::Function& function, const void* value) {
  if (value == nullptr || value == function.stand_in) return false;
  const bool is_unbound = object.contains(reinterpret_cast<std::uintptr_t>(value));
  return (value == function.found || is_unbound) && !object.defines(function.name);
}

void lead(const ElfObject& object) {
  const auto& functions = functions_by_name();
  object.for_each_slot([&](std::string_view name, void** slot) {
    const auto found = functions.find(name);
    if (found == functions.end() || !leads_to(object, *found->second, *slot)) return;
    if (!object.store(slot, found->second->stand_in)) {
      print_message_once("some I/O of " + std::string(object.path()) +
                         " is not recorded (its memory cannot be changed), report this system");
    }
  });
}

/// Where objects lie that were looked at; forgotten when any is unloaded.
struct Seen {
  std::set<std::pair<std::uintptr_t, std::string>> objects;
  unsigned long long unloaded = 0;
};

Seen& seen() {
  static auto& only = *new Seen;  // never destroyed: calls arrive during exit, too
  return only;
}

}  // namespace

bool wants_io() noexcept {
  if (!record::is_recording || record::access_table() == nullptr || !ElfObject::knows_slots()) {
    return false;
  }
  static const bool is_prepared = [] {
    posix::counts_depth = posix::has_tools();
    return posix::prepare_descriptors();
  }();
  return is_prepared;
}

void lead_io_slots() {
  functions_by_name();
  const unsigned long long unloaded = unloaded_object_count();
  if (std::exchange(seen().unloaded, unloaded) != unloaded) seen().objects.clear();
  const std::set<std::string> wanted = program_objects();
  for_each_object([&](const ElfObject& object) {
    if (!wanted.contains(name_of(object)) || is_of_system(object) || is_front_library(object)) {
      return;
    }
    if (seen().objects.emplace(object.base(), object.path()).second) lead(object);
  });
}

}  // namespace headrace::abi
