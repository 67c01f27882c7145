#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "plan/owners.h"
#include "plan/windows.h"

namespace headrace::plan {

/// How many messages a plan sends between nodes in one call.
struct Traffic {
  std::int64_t messages = 0;  ///< to owners, each about one or two windows
  std::int64_t pairs = 0;     ///< pairs of a leader and an owner's leader that send each other any
  std::int64_t rounds = 0;    ///< how many windows the node with the most owns
};

/// How many messages `nodes` leaders need to meet and to agree to exchange: a Bruck allgather, and
/// as many again to tell that all have the memory, unless the call repeats the one before with one
/// leader for each node.
std::int64_t meeting_messages(int nodes);

/// Which parts of a collective call's windows go between which nodes. All follows from the ranges
/// that the nodes touch, so every node knows without asking which parts come, and where its own go.
/// Windows are numbered from 0 in file order; windows that no range meets are left out. A node
/// takes part in every window that its range meets, and sends the owner a message about each, or
/// about two that are joined.
class ExchangePlan {
 public:
  /// `ranges`: one for each node, without bytes if its ranks have none. `leaders`: how many each
  /// node has; they share the node's messages and windows, and leaders of one number talk only to
  /// each other. `joined_within`: two windows may be joined within blocks of so many; 0: none are.
  ExchangePlan(std::vector<RankRange> ranges, ByteCount window_size, Owners owners, int leaders = 1,
               std::int64_t joined_within = 0);
  /// The same with the windows of these ranges.
  ExchangePlan(std::vector<RankRange> ranges, Windows windows, Owners owners, int leaders,
               std::int64_t joined_within);

  std::int64_t count() const { return windows_.count(); }
  int nodes() const { return static_cast<int>(ranges_.size()); }
  const Windows& windows() const { return windows_; }
  const RankRange& range_of(int node) const { return ranges_[static_cast<std::size_t>(node)]; }

  int leaders() const { return leaders_; }

  int owner_of(std::int64_t window) const;
  /// Which of each node's leaders deals with a window.
  int leader_of(std::int64_t window) const;
  bool meets(int node, std::int64_t window) const;
  /// How many nodes take part in a window besides its owner.
  int parts_of_others(std::int64_t window) const;

  /// The first window from `window` on that `node` meets, `owner` owns and `leader` deals with; -1
  /// if there is none.
  std::int64_t next(int node, int owner, std::int64_t window, int leader = 0) const;
  /// The last such window of all; -1 if there is none.
  std::int64_t last(int node, int owner, int leader = 0) const;
  /// How many windows one message may be about.
  std::size_t most_joined() const { return joined_within_ == 0 ? 1 : 2; }
  /// The second window of the message from `node` that begins with `window`: the owner's next one
  /// in the same block; -1 if the message has only one.
  std::int64_t joined_with(int node, std::int64_t window) const;
  /// How many messages `node` sends to `owner` about windows.
  std::int64_t messages(int node, int owner) const;
  /// For a write: all parts, and one reply for each pair. For a read: a request for each part, and
  /// an answer with its bytes unless it has none. Walks over all windows.
  Traffic traffic() const;

 private:
  /// Windows that a node's range meets, counted from the beginning of the file.
  FileRange places_of(int node) const;
  /// The number of a window, given its place from the beginning of the file.
  std::int64_t number_of(std::int64_t place) const {
    return windows_.window_of(place * windows_.window_size());
  }

  std::vector<RankRange> ranges_;
  Windows windows_;
  Owners owners_;
  int leaders_;
  std::int64_t joined_within_;
};

}  // namespace headrace::plan
