#include "abi/front/io_slots.h"

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "abi/front/front_library.h"
#include "abi/front/program_objects.h"
#include "base/elf_object.h"
#include "base/message.h"
#include "posix/descriptors.h"
#include "posix/functions.h"
#include "record/recorder.h"

namespace headrace::abi {
namespace {

/// A function, and whether an object has one of its own of the same name, which slots that are not
/// bound yet may mean.
struct Target {
  const posix::Function* function;
  bool is_ambiguous = false;
};

using Targets = std::unordered_map<std::string_view, Target>;

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

SeenObjects& seen() {
  static auto& only = *new SeenObjects;  // never destroyed: calls arrive during exit, too
  return only;
}

}  // namespace

bool start_io() noexcept {
  if (!record::is_recording || record::access_table() == nullptr || !ElfObject::knows_slots()) {
    return false;
  }
  posix::functions();
  seen().is_wanted = posix::prepare_descriptors();
  return seen().is_wanted;
}

bool may_have_new_io() noexcept {
  return seen().may_lack_any();
}

void lead_io_slots(const SettledObjects& settled) {
  if (!seen().is_wanted) return;
  const std::lock_guard lock(seen().mutex);
  seen().begin(settled);
  const std::set<std::string> wanted = program_objects();
  const Targets all = targets();
  const bool is_complete = settled.for_each([&](const ElfObject& object) {
    if (!wanted.contains(name_of(object)) || is_of_system(object) || is_front_library(object) ||
        posix::is_tool(object.path()) || seen().has(object)) {
      return;
    }
    lead(object, all);
    seen().add(object);
  });
  if (is_complete) seen().end(settled);
}

}  // namespace headrace::abi
