#include "abi/front/program_objects.h"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
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

}  // namespace

std::string name_of(const ElfObject& object) {
  const std::string_view soname = object.soname();
  return std::string(soname.empty() ? file_name(object.path()) : soname);
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

void SeenObjects::begin(const SettledObjects& settled) {
  if (std::exchange(unloaded_, settled.unloaded()) != settled.unloaded()) objects_.clear();
}

bool is_of_system(const ElfObject& object) {
  const std::string_view name = object.soname();
  return name.starts_with("libc.so.") || name.starts_with("ld-linux") ||
         name.starts_with("ld64.") || name.starts_with("libpthread.so.") ||
         name.starts_with("librt.so.");
}

void note_objects_before_init() noexcept {
  const bool records =
      settings().record && (settings().record_files || record::wants_traces(settings()));
  if (settings().disable || (!records && settings().iobuf.empty())) return;
  const Error lost = attempt([]() -> Error {
    for_each_object([](const ElfObject& object) { startup().before.insert(key_of(object)); });
    return {};
  });
  if (lost) startup().before.clear();
}

bool note_objects_after_init() noexcept {
  if (startup().before.empty()) return true;
  const Error lost = attempt([]() -> Error {
    for_each_object([](const ElfObject& object) {
      if (!startup().before.contains(key_of(object))) startup().loaded.insert(key_of(object));
    });
    return {};
  });
  return !lost;
}

}  // namespace headrace::abi
