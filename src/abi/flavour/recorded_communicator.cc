#include "abi/flavour/recorded_communicator.h"

#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/flavour/recorded_groups.h"
#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

constexpr std::size_t kMostKept = 4096;
constexpr int kNotOpened = -2;
constexpr int kMostMembers = 16384;

using Key = std::uintptr_t;

/// What is kept of a communicator.
struct Facts {
  std::uint32_t shape = record::kNone;
  bool is_known = false;
  bool is_inter = false;
  bool is_world = false;  ///< its ranks are those of MPI_COMM_WORLD
  Errors errors = Errors::end_the_job;
  int size = 0;  ///< of the local group
  std::uint64_t id = 0;
  int entry_log = kNotOpened;
};

struct Known {
  struct One {
    Facts facts;
    std::unordered_map<int, std::int32_t> in_world;
  };
  std::mutex mutex;
  std::unordered_map<Key, One> by_handle;
  int being_freed = 0;  ///< While there are some, nothing is added.
};

Known& known() {
  static auto& only = *new Known;  // never destroyed: calls arrive during exit, too
  return only;
}

std::atomic<bool> some_return = false;

/// Grows whenever a handle may come to mean another communicator, or one
/// has another error handler.
std::atomic<std::uint64_t> generation = 1;

/// What a thread keeps of those that it used last. Plain values: the destructors of a program's
/// static objects call MPI after those of a thread's own variables have run.
struct Latest {
  Key key = 0;
  std::uint64_t generation = 0;
  Facts facts;
};
thread_local constinit std::array<Latest, 4> latest;

std::string_view name_of(MPI_Comm communicator) {
  if (communicator == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
  if (communicator == MPI_COMM_SELF) return "MPI_COMM_SELF";
  return "";
}

Errors meaning_of(MPI_Errhandler handler) {
  if (handler == MPI_ERRORS_ARE_FATAL) return Errors::end_the_job;
#ifndef HEADRACE_FLAVOUR_OPENMPI  // Open MPI 4.1 does not have it, so it counts as the program's
  if (handler == MPI_ERRORS_ABORT) return Errors::end_the_job;
#endif
  some_return.store(true, std::memory_order_relaxed);
  return handler == MPI_ERRORS_RETURN ? Errors::are_returned : Errors::call_the_program;
}

Errors errors_of(MPI_Comm communicator) {
  MPI_Errhandler handler{};
  if (native.Comm_get_errhandler(communicator, &handler) != MPI_SUCCESS) return {};
  const Errors found = meaning_of(handler);
  native.Errhandler_free(&handler);
  return found;
}

/// Larger ones have no number: then it is of no use.
int most_members() {
  if (record::message_waits() != nullptr) return kMostMembers;
  const int on_node = record::job_mark().ranks_on_node;
  return on_node > 0 ? on_node : kMostMembers;
}

/// `thread` has made it, or it is MPI_COMM_WORLD.
std::uint64_t find_id(MPI_Comm communicator, const Facts& facts, std::uint32_t thread) {
  if (record::collective_waits() == nullptr && record::message_waits() == nullptr) return 0;
  if (facts.is_inter || facts.size < 2 || facts.size > most_members()) return 0;
  std::vector<std::int32_t> members = members_of(communicator, facts.size);
  if (members.empty()) return 0;
  const std::uint64_t id = communicator == MPI_COMM_WORLD
                               ? record::CommunicatorIds::world(members)
                               : record::communicator_ids().made(thread, members);
  record::MessageWaits* const waits = record::message_waits();
  if (waits != nullptr && id != 0) waits->know(id, std::move(members));
  return id;
}

Facts make_facts(MPI_Comm communicator) {
  int is_inter = 0;
  int size = 0;
  // A handler of the program's may have made a success of a call with a handle that is none. It is
  // not to be called once more for each question.
  if (native.Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS ||
      native.Comm_size(communicator, &size) != MPI_SUCCESS) {
    return {};
  }
  Facts facts{
      .is_known = true, .is_inter = is_inter != 0, .errors = errors_of(communicator), .size = size};
  if (!facts.is_inter) facts.is_world = has_ranks_of_world(communicator, size);
  if (communicator == MPI_COMM_WORLD) facts.id = find_id(communicator, facts, record::kNone);
  const std::string text = std::to_string(size);
  const std::string on_node = std::to_string(ranks_on_node(communicator, facts.is_inter, size));
  const std::string_view fields[] = {facts.is_inter ? "1" : "0", text, on_node,
                                     name_of(communicator)};
  facts.shape = record::add_note(record::NoteKind::communicator, fields);
  return facts;
}

/// Whether what was found out since `then` may be kept for all threads.
bool may_keep(const Known& all, std::uint64_t then) {
  return all.being_freed == 0 && generation.load(std::memory_order_relaxed) == then;
}

Facts find_facts(MPI_Comm communicator, Key key, std::uint64_t now) {
  Known& all = known();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(key);
    if (found != all.by_handle.end()) return found->second.facts;
  }
  const Facts made = make_facts(communicator);  // calls MPI: no lock
  const std::lock_guard lock(all.mutex);
  if (!may_keep(all, now)) return made;
  if (all.by_handle.size() >= kMostKept) {
    all.by_handle.clear();
    stop_following_waits();
  }
  all.by_handle[key].facts = made;
  return made;
}

/// Where no thread has asked for this peer yet, MPI is asked.
std::int32_t find_peer(MPI_Comm communicator, const Latest& own, int peer) {
  Known& all = known();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(own.key);
    if (found != all.by_handle.end()) {
      const auto place = found->second.in_world.find(peer);
      if (place != found->second.in_world.end()) return place->second;
    }
  }
  const int found_rank = rank_in_world(communicator, own.facts.is_inter, peer);
  const auto made = static_cast<std::int32_t>(found_rank == MPI_UNDEFINED ? kOutside : found_rank);
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_handle.find(own.key);
  if (found != all.by_handle.end() && may_keep(all, own.generation)) {
    found->second.in_world.emplace(peer, made);
  }
  return made;
}

/// Where this thread keeps what it knows of a communicator, or of another one.
Latest& place_of(Key key) {
  return latest[(key >> 4 ^ key) % latest.size()];
}

/// Nothing is known of MPI_COMM_NULL, nor where there is no memory.
Latest recorded(MPI_Comm communicator) noexcept {
  const Key key = handle_key(communicator);
  Latest& own = place_of(key);
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (own.key == key && own.generation == now) return own;
  if (communicator == MPI_COMM_NULL) return {};
  try {
    return own = {key, now, find_facts(communicator, key, now)};
  } catch (const std::bad_alloc&) {
    stop_following_waits();  // this call is not counted, while it is on other ranks
    return {};
  }
}

/// Where memory lacks, the communicator's waits are not followed.
int open_entry_log(MPI_Comm communicator, const Facts& facts, std::uint32_t thread) noexcept {
  record::CollectiveWaits* const waits = record::collective_waits();
  const int on_node = record::job_mark().ranks_on_node;
  int rank = 0;
  if (waits == nullptr || facts.id == 0 || (on_node > 0 && facts.size > on_node) ||
      native.Comm_rank(communicator, &rank) != MPI_SUCCESS) {
    return record::CollectiveWaits::kNoLog;
  }
  try {
    const std::vector<std::int32_t> members = members_of(communicator, facts.size);
    if (!members.empty()) return waits->open(thread, facts.id, members, rank);
  } catch (const std::bad_alloc&) {
  }
  return record::CollectiveWaits::kNoLog;
}

}  // namespace

int entry_log_of(MPI_Comm communicator, std::uint32_t thread) noexcept {
  const Latest own = recorded(communicator);
  if (!own.facts.is_known || own.facts.entry_log != kNotOpened) return own.facts.entry_log;
  Known& all = known();
  Facts facts = own.facts;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(own.key);
    if (found != all.by_handle.end()) facts = found->second.facts;
  }
  if (facts.entry_log == kNotOpened) {
    facts.entry_log = open_entry_log(communicator, facts, thread);
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(own.key);
    // Another thread frees communicators: which one this is may be known no longer.
    if (found == all.by_handle.end() || !may_keep(all, own.generation)) {
      stop_following_waits();
      return record::CollectiveWaits::kNoLog;
    }
    found->second.facts.entry_log = facts.entry_log;
  }
  place_of(own.key) = {own.key, own.generation, facts};
  return facts.entry_log;
}

void stop_following_waits() noexcept {
  if (record::CollectiveWaits* const waits = record::collective_waits(); waits != nullptr) {
    waits->stop();
  }
  if (record::MessageWaits* const waits = record::message_waits(); waits != nullptr) {
    waits->stop();
  }
}

void note_made(MPI_Comm communicator, std::uint32_t thread) noexcept {
  if (communicator == MPI_COMM_NULL) return;
  if (record::collective_waits() == nullptr && record::message_waits() == nullptr) return;
  const Latest own = recorded(communicator);
  Known& all = known();
  try {
    const std::uint64_t id = find_id(communicator, own.facts, thread);
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(own.key);
    if (found == all.by_handle.end() || !may_keep(all, own.generation)) {
      stop_following_waits();
      return;
    }
    found->second.facts.id = id;
    generation.fetch_add(1, std::memory_order_release);
  } catch (const std::bad_alloc&) {
    stop_following_waits();
  }
}

CommunicatorFacts facts_of(MPI_Comm communicator) noexcept {
  const Latest own = recorded(communicator);
  return {own.facts.shape, own.facts.errors, own.facts.id};
}

void note_error_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept {
  const Errors errors = meaning_of(handler);
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_handle.find(handle_key(communicator));
  if (found != all.by_handle.end()) found->second.facts.errors = errors;
  generation.fetch_add(1, std::memory_order_release);
}

bool errors_may_return() noexcept {
  return some_return.load(std::memory_order_relaxed);
}

std::int64_t peer_in_world(int peer, MPI_Comm communicator) noexcept {
  if (peer == MPI_PROC_NULL) return kNobody;
  const Latest own = recorded(communicator);
  if (own.facts.is_world) return peer;
  record::ThreadRecord* const thread = record::this_thread();
  if (!own.facts.is_known || thread == nullptr) return kOutside;
  record::PeerPlace& place = thread->peer_place(own.key, peer);
  const record::PeerPlace wanted{own.key, own.generation, peer, place.in_world};
  if (place == wanted) return place.in_world;
  try {
    place = {own.key, own.generation, peer, find_peer(communicator, own, peer)};
    return place.in_world;
  } catch (const std::bad_alloc&) {
    return kOutside;
  }
}

Forgetting::Forgetting(MPI_Comm communicator) noexcept : communicator_(communicator) {
  Known& all = known();
  int entry_log = record::CollectiveWaits::kNoLog;
  {
    const std::lock_guard lock(all.mutex);
    all.being_freed += 1;
    const auto found = all.by_handle.find(handle_key(communicator_));
    if (found != all.by_handle.end()) {
      entry_log = found->second.facts.entry_log;
      all.by_handle.erase(found);
    }
    generation.fetch_add(1, std::memory_order_release);
  }
  record::ThreadRecord* const thread = record::this_thread();
  if (entry_log >= 0 && thread != nullptr) {
    record::collective_waits()->close(entry_log, thread->number());
  }
}

Forgetting::~Forgetting() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.being_freed -= 1;
  all.by_handle.erase(handle_key(communicator_));
  generation.fetch_add(1, std::memory_order_release);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
