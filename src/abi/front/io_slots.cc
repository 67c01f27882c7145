#include "abi/front/io_slots.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "abi/front/front_library.h"
#include "abi/front/program_objects.h"
#include "base/elf_object.h"
#include "base/message.h"
#include "base/settings.h"
#include "buffering/buffer_limit.h"
#include "buffering/buffer_plan.h"
#include "posix/buffer_decisions.h"
#include "posix/descriptor_buffers.h"
#include "posix/descriptors.h"
#include "posix/held_blocks.h"
#include "posix/stand_ins.h"
#include "record/recorder.h"
#include "topo/spare_cores.h"

namespace headrace::abi {
namespace {

/// A function, and whether an object has one of its own of the same name, which slots that are not
/// bound yet may mean. Those of the program itself mean what its scope shows.
struct Target {
  const posix::Function* function;
  bool is_ambiguous = false;
  bool is_visible = true;
};

using Targets = std::unordered_map<std::string_view, Target>;

/// Whether anybody wants to know of calls of the function.
bool is_wanted(const posix::Function& function) {
  switch (function.purpose) {
    case posix::Purpose::counts: return posix::is_counting;
    case posix::Purpose::buffers: return posix::buffers::are_wanted();
    case posix::Purpose::both: return true;
  }
  return false;
}

/// By name; those that are there.
Targets targets() {
  Targets made;
  for (const posix::Function& one : posix::functions()) {
    if (one.native[0] != nullptr && is_wanted(one)) made.emplace(one.name, Target{&one});
  }
  for_each_object([&](const ElfObject& object) {
    if (is_of_system(object) || is_front_library(object) || posix::is_tool(object.path())) return;
    if (object.soname().starts_with("liburing.")) return;
    for (auto& [name, target] : made) target.is_ambiguous |= object.defines(name);
  });
  for (auto& [name, target] : made) {
    if (!target.is_ambiguous) continue;
    target.is_visible = target.function->is_at(::dlsym(RTLD_DEFAULT, target.function->name));
  }
  return made;
}

/// A slot leads to the function if it holds its address, or will when it is bound. What the program
/// has put there itself is left alone, as is data, which it may have changed.
bool leads_to(const ElfObject& object, const Slot& slot, const Target& target, const void* value) {
  if (slot.kind == Slot::Kind::data) return false;
  if (target.function->is_at(value)) return true;
  const bool is_meant = !target.is_ambiguous || (target.is_visible && !object.is_library());
  return is_meant && object.is_unbound(slot, value);
}

void lead(const ElfObject& object, const Targets& all) {
  const bool is_cpp = object.soname().starts_with("libstdc++.so.");
  object.for_each_slot([&](const Slot& slot) {
    const auto found = all.find(slot.name);
    if (found == all.end()) return;
    void* const value = __atomic_load_n(slot.word, __ATOMIC_ACQUIRE);
    if (!leads_to(object, slot, found->second, value)) return;
    const posix::Function& function = *found->second.function;
    void* const stand_in = is_cpp ? posix::stand_in_for_cpp(function) : function.stand_in;
    if (!object.replace(slot, value, stand_in)) {
      print_message_once("some I/O of " + std::string(object.path()) +
                         " is not seen (its memory cannot be changed), report this system");
    }
  });
}

SeenObjects& seen() {
  static auto& only = *new SeenObjects;  // never destroyed: calls arrive during exit, too
  return only;
}

bool wants_buffers() noexcept {
  return buffering::has_buffers();
}

/// In bytes, for the buffers of one file; set before files may ask, which handlers do, too.
ByteCount most_of_file = 0;

/// Among whom that is shared.
std::int64_t ranks_on_node = 1;

/// An eighth of the node's memory is the most that those of one open file may take in all ranks, as
/// for files of MPI-IO. Where the launcher does not tell how many they are, there is one for each
/// processor.
void share_memory() {
  const int ranks = topo::ranks_on_node();
  ranks_on_node = ranks > 0 ? ranks : std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  most_of_file = settings().node_memory / 8 / ranks_on_node;
}

posix::BufferRequest requested_buffer(std::string_view given_name, std::string_view full_name) {
  const buffering::BufferShape* const shape = buffering::shape_of(given_name, full_name);
  if (shape == nullptr) return {};
  buffering::BufferShape own = *shape;
  own.count = std::min<std::int64_t>(own.count, posix::HeldBlocks::kMost);
  const buffering::BufferShape wanted = own;
  own = buffering::limited(own, most_of_file);
  buffering::note_cut(wanted, own, ranks_on_node);
  if (own.count == 0) {
    posix::buffers::note_obstacle(posix::buffers::kNoShare, full_name, own.is_verbose);
    return {};
  }
  return {{own.size, static_cast<int>(own.count), own.prefetch}, own.is_verbose};
}

}  // namespace

bool start_io() noexcept {
  const bool counts = record::is_recording && record::access_table() != nullptr;
  if (!ElfObject::supports_relocations() || (!counts && !wants_buffers())) return false;
  posix::functions();
  if (counts) seen().is_wanted = posix::prepare_descriptors();
  if (wants_buffers()) share_memory();
  if (wants_buffers() && posix::buffers::start(&requested_buffer)) seen().is_wanted = true;
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
