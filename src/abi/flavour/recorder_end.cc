#include "abi/flavour/recorder_end.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "abi/flavour/error.h"
#include "abi/flavour/job.h"
#include "abi/flavour/library_version.h"
#include "abi/flavour/native.h"
#include "abi/flavour/quiet_world.h"
#include "abi/flavour/world_calls.h"
#include "base/fingerprint.h"
#include "posix/stream_buffers.h"
#include "profile/event_counting.h"
#include "profile/sampler.h"
#include "record/clock.h"
#include "record/job_end.h"
#include "record/part_rounds.h"
#include "record/recorder.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

namespace {

using record::RankEnd;
using std::chrono::seconds;

constexpr seconds kLeastPatience{60};
constexpr seconds kMostPatience{600};
constexpr seconds kPatienceForParts{30};
/// Rank 0 says that it has given up while others still wait for its word.
constexpr seconds kTimeForWord{5};

#if defined(HEADRACE_FLAVOUR_OPENMPI)
constexpr const char* kAbi = "Open MPI";
#elif defined(HEADRACE_FLAVOUR_MPICH)
constexpr const char* kAbi = "MPICH";
#else
constexpr const char* kAbi = "MPI standard";
#endif

/// What rank 0 has until MPI has ended.
struct Collected {
  bool is_due = false;                  ///< this is rank 0, and the record is still to be written
  std::string missing;                  ///< why other nodes' parts are not there
  std::unique_ptr<record::JobEnd> end;  ///< null: only this node's images are to be read
  std::vector<std::string> images;      ///< these, where the ranks have told of them
};

Collected& collected() {
  static auto& only = *new Collected;  // never destroyed: programs may exit in a call
  return only;
}

/// Ranks end at different times by a part of the run. One that never comes runs without the layer:
/// nobody is to wait long for it who has not asked for a record.
Patience patience_for_ranks() {
  const std::int64_t chosen = settings().record_patience;
  if (chosen > 0) return seconds(chosen);
  if (!record::is_asked_for(settings())) return kLeastPatience;
  return std::clamp<Patience>(std::chrono::nanoseconds(record::recorded_ns()) / 10, kLeastPatience,
                              kMostPatience);
}

/// Once all have come. Less than the other, which may be short.
Patience patience_for_parts() {
  return std::min<Patience>(patience_for_ranks(), kPatienceForParts);
}

template <class Value>
Result<std::vector<Value>> all_of(const Value& own, int ranks, Patience patience) {
  auto found = all_gather(std::as_bytes(std::span(&own, 1)), ranks, patience);
  if (!found) return found.error();
  std::vector<Value> all(static_cast<std::size_t>(ranks));
  std::memcpy(all.data(), found.value().data(), found.value().size());
  return all;
}

/// The ranks of a job on several nodes, at its end.
struct Ends {
  int rank = 0;
  std::vector<RankEnd> all;
  std::vector<std::vector<int>> nodes;

  /// Of whose ranks this one is the first; -1 if it is none's.
  int led_node() const {
    const auto found =
        std::ranges::find(nodes, rank, [](const std::vector<int>& ranks) { return ranks.front(); });
    return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
  }
  const std::vector<int>& ranks_of(int node) const { return nodes[static_cast<std::size_t>(node)]; }
};

/// What this rank hands to rank 0: its node's part, or nothing.
std::string own_part(const Ends& ends) {
  const int node = ends.led_node();
  std::string part;
  if (node <= 0) return part;
  const Error failed = attempt([&]() -> Error {
    part = record::pack_node(
        record::gather_node(ends.all, ends.ranks_of(node), static_cast<std::uint32_t>(node)));
    return {};
  });
  if (failed || std::ssize(part) > record::kLargestPart) part.clear();
  return part;
}

/// Rank 0's record, to which it adds the nodes' parts.
class Collection {
 public:
  explicit Collection(const Ends& ends) : ends_(ends) {
    record::Facts facts = job_facts();
    facts.emplace_back("nodes", std::to_string(ends.nodes.size()));
    job_.emplace(std::move(facts), record::record_places());
    for (int node = 1; node < static_cast<int>(ends.nodes.size()); ++node) missing_.insert(node);
    if (Error failed = job_->add(record::gather_node(ends.all, ends.nodes[0], 0))) {
      job_->leave_out("node 0: " + failed.message);
    }
  }

  void take(int rank, std::string_view bytes) {
    const auto is_led = [&](int node) { return ends_.ranks_of(node).front() == rank; };
    const auto node = std::ranges::find_if(missing_, is_led);
    if (node == missing_.end()) return;
    auto part = record::unpack_node(bytes);
    Error problem = part ? job_->add(std::move(part.value())) : part.error();
    if (problem) job_->leave_out("node " + std::to_string(*node) + ": " + problem.message);
    missing_.erase(node);
  }

  /// Writes the record. Returns whether images may be removed.
  bool end() {
    for (const int node : missing_) {
      job_->leave_out("node " + std::to_string(node) + ", of which rank " +
                      std::to_string(ends_.ranks_of(node).front()) +
                      " is the first, did not send its part");
    }
    std::vector<std::string> images = record::images_of(ends_.all, ends_.nodes[0]);
    std::erase(images, "");
    collected().end =
        std::make_unique<record::JobEnd>(std::move(*job_), Error(), std::move(images));
    collected().end->remove_images();
    job_.reset();
    return collected().end->is_safe();
  }
  bool has_ended() const { return !job_; }

 private:
  const Ends& ends_;
  std::optional<record::JobRecord> job_;
  std::set<int> missing_;
};

/// Hands the parts of nodes to rank 0, which has `collection` and writes the record. Returns
/// whether that is there, so that images may be removed.
Result<bool> hand_over(const Ends& ends, const std::string& own,
                       const std::vector<record::PartRound>& rounds,
                       const std::vector<std::int64_t>& sizes, Collection* collection) {
  const Patience patience = patience_for_parts();
  for (const record::PartRound& round : rounds) {
    std::vector<int> counts(sizes.size());
    for (int rank = round.begin; rank < round.end; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      counts[i] = static_cast<int>(sizes[i]);
    }
    const std::string_view mine = round.has(ends.rank) ? std::string_view(own) : "";
    const auto bytes =
        gather(std::as_bytes(std::span(mine)), counts, collection != nullptr, patience);
    if (!bytes) return bytes.error();
    std::string_view left(reinterpret_cast<const char*>(bytes.value().data()),
                          bytes.value().size());
    for (int rank = round.begin; rank < round.end && collection != nullptr; ++rank) {
      const auto size = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
      if (size > 0) collection->take(rank, left.substr(0, size));
      left.remove_prefix(size);
    }
  }
  const bool is_safe = collection != nullptr && collection->end();
  const auto word = broadcast(is_safe ? 1 : 0, patience);
  if (!word) return word.error();
  return word.value() == 1;
}

/// Each rank calls the same functions of world_calls.h, whatever fails on it.
void gather_parts(const Ends& ends) {
  std::unique_ptr<Collection> collection;
  if (ends.rank == 0) collection = std::make_unique<Collection>(ends);
  const std::string own = own_part(ends);
  const auto sizes = all_of<std::int64_t>(std::ssize(own), static_cast<int>(ends.all.size()),
                                          patience_for_parts());
  if (sizes) {
    const auto rounds = record::rounds_of(sizes.value(), record::JobRecord::kMostKept);
    const auto is_safe = hand_over(ends, own, rounds, sizes.value(), collection.get());
    // What rank 0 may not have written stays.
    if (is_safe && is_safe.value() && !own.empty()) {
      record::remove_images(ends.all, ends.ranks_of(ends.led_node()));
    }
  }
  if (collection != nullptr && !collection->has_ended()) static_cast<void>(collection->end());
}

/// Waits for all ranks. Rank 0 decides for all whether to go on without each other, and says so
/// even where it has given up itself: its word is there at once for a rank that comes later. The
/// others' messages need no rank but rank 0, so they are there if it comes late.
Error await_all(int rank, int size) {
  const Patience patience = patience_for_ranks();
  const std::int64_t until = record::since_1970_ns() + patience.count();
  std::vector<int> sizes(static_cast<std::size_t>(size), sizeof until);
  const auto come =
      gather(std::as_bytes(std::span(&until, 1)), std::move(sizes), rank == 0, patience);
  bool have_all = static_cast<bool>(come);
  bool has_listeners = true;
  if (come && rank == 0) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size));
    std::memcpy(all.data(), come.value().data(), come.value().size());
    const std::int64_t now = record::since_1970_ns();
    have_all = !record::has_gone_on(all, now);
    // Where all others are in the library's own MPI_Finalize, a message to them may meet a closed
    // connection, which ends a process under Open MPI (SIGPIPE).
    has_listeners = std::ranges::any_of(all.begin() + 1, all.end(), [&](std::int64_t end) {
      return end + std::chrono::nanoseconds(kTimeForWord).count() >= now;
    });
  }
  const Error given_up = {ErrorClass::other, 0,
                          "other nodes' parts are missing: not all ranks came to MPI_Finalize with "
                          "Headrace in time, set HEADRACE_RECORD_PATIENCE to more seconds if one "
                          "comes late"};
  if (!have_all && !has_listeners) return given_up;
  const auto word =
      broadcast(have_all ? 1 : 0, rank == 0 ? patience_for_parts() : patience + kTimeForWord);
  if (have_all && word && word.value() == 1) return {};
  return given_up;
}

Error gather_job(int rank) {
  int size = 0;
  native.Comm_size(MPI_COMM_WORLD, &size);
  Fingerprint node;
  for (const char byte : topo::node_identity()) node.add_byte(static_cast<unsigned char>(byte));
  const QuietWorld quiet;
  if (Error missing = await_all(rank, size)) return missing;
  auto all = all_of(record::own_end(node.value()), size, patience_for_parts());
  if (!all) {
    return {ErrorClass::other, 0, {"other nodes' parts are missing: ", all.error().message}};
  }
  const auto nodes = record::nodes_of(all.value());
  const Ends ends{rank, std::move(all.value()), nodes};
  if (nodes.size() > 1) {
    gather_parts(ends);
  } else if (rank == 0) {
    collected().images = record::images_of(ends.all, nodes[0]);
  }
  return {};
}

void finish_at_exit() {
  finish_record();
}

/// Of a rank that is not rank 0.
void await_record_at_exit(int code, void* /*unused*/) {
  if (code == 0 || !record::is_this_process()) return;
  const Error failed = attempt([]() -> Error {
    record::await_record();
    return {};
  });
  static_cast<void>(failed);
}

}  // namespace

record::Facts job_facts() {
  const std::string_view version = library_version();
  return {{"mpi", std::string(version.substr(0, version.find('\n')))}, {"abi", kAbi}};
}

bool is_wanted(const Settings& settings) {
  return settings.record;
}

void end_world() noexcept {
  if (!is_wanted(settings()) || !record::is_this_process()) return;
  posix::streams::note_written(nullptr);
  record::mark_end(record::RankState::finalized);
  record::stop_recorder();
  const int rank = rank_in_job();
  Error failed;
  if (!record::job_mark().is_on_one_node()) failed = attempt([&] { return gather_job(rank); });
  if (rank != 0) {
    on_exit(&await_record_at_exit, nullptr);
    return;
  }
  collected().is_due = true;
  collected().missing = std::move(failed.message);
  // Where MPI_Finalize does not come back to us.
  std::atexit(&finish_at_exit);
}

void note_abort() noexcept {
  profile::stop_counting();
  profile::stop_sampling();
  record::mark_end(record::RankState::aborted);
}

void finish_record() noexcept {
  Collected& own = collected();
  if (!std::exchange(own.is_due, false) || !record::is_this_process()) return;
  const Error failed = attempt([&]() -> Error {
    if (own.end != nullptr) {
      own.end->tell();
    } else {
      record::finish_job(job_facts(), std::move(own.images), own.missing);
    }
    return {};
  });
  static_cast<void>(failed);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
