#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "plan/owners.h"
#include "plan/windows.h"

namespace headrace::plan {

/// Messages between nodes in one call, as its plan has them.
struct Traffic {
  std::int64_t messages = 0;  ///< to owners, about a window or two each
  std::int64_t pairs = 0;     ///< of a node's leader and an owner's between whom there are any
  std::int64_t rounds = 0;    ///< the most windows that one node owns
};

/// Messages by which `nodes` leaders meet and agree to exchange: a Bruck allgather, and as many to
/// tell that all have the memory for it, unless the call repeats the one before with one leader a
/// node.
std::int64_t meeting_messages(int nodes);

/// Which parts of a collective call's windows go between which nodes: all from the ranges that the
/// nodes touch, so that every node knows whose parts come and to whom its own go without asking.
/// Windows are numbered from 0 in file order, windows that no range meets left out. A node takes
/// part in every window that its range meets, and tells the owner about each; of two that follow
/// one another in one message, where they are joined.
class ExchangePlan {
 public:
  /// `ranges`: of each node; without bytes where its ranks have none. `leaders`: of each node,
  /// among whom its messages and windows are shared out; those of one number talk to each other
  /// only. `joined_within`: windows, in blocks of so many of which two may be joined; 0: none are.
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
  /// Nodes that take part in a window besides its owner.
  int parts_of_others(std::int64_t window) const;

  /// The first window from `window` on that `node` meets, `owner` owns and a leader deals with; -1
  /// where there is none.
  std::int64_t next(int node, int owner, std::int64_t window, int leader = 0) const;
  /// The last such window of all; -1 where there is none.
  std::int64_t last(int node, int owner, int leader = 0) const;
  /// Windows that one message is about, at most.
  std::size_t most_joined() const { return joined_within_ == 0 ? 1 : 2; }
  /// The window that `node` tells the owner of in the same message, behind `window`, with which the
  /// message begins: the owner's next in the same block; -1 where the message has no other.
  std::int64_t joined_with(int node, std::int64_t window) const;
  /// Messages about windows from `node` to `owner`.
  std::int64_t messages(int node, int owner) const;
  /// Written: all parts, and one answer to each pair. Read: a request for each part, and an answer
  /// with its bytes unless it has none. A walk over all windows.
  Traffic traffic() const;

 private:
  /// Windows that a node's range meets, counted from the beginning of the file.
  FileRange places_of(int node) const;
  /// A window as it is counted here.
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
