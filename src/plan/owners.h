#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plan/domains.h"

namespace headrace::plan {

/// One of the leaders of a node, which share its windows; numbered from 0.
struct Leader {
  int index = 0;
  int count = 1;
};

/// Which node writes and reads a window of the file: a DomainMap with nodes in place of their
/// aggregators. Windows are counted from the beginning of the file. So, with persistent domains, a
/// node owns the same windows in every call, and, with windows of whole stripes, the same storage
/// targets.
class Owners {
 public:
  /// `nodes[a]`: the node of aggregator a; not empty. `unit`: so many consecutive windows have one
  /// owner. `period`: number of units after which the same storage targets come again; 0: unknown.
  Owners(std::vector<int> nodes, std::int64_t unit, std::int64_t period);
  /// The same for stripes of `stripe` bytes on `stripe_count` targets; 0: unknown.
  static Owners of_stripes(std::vector<int> nodes, ByteCount window_size, ByteCount stripe,
                           std::int64_t stripe_count);
  /// Runs of windows in turn, for reads in which windows share no storage target: a file system's
  /// client reads ahead for a node that reads on. Each run is an even share of `windows` windows,
  /// at most `longest`.
  ///
  /// Example: 8 windows, 4 nodes, longest 4: windows 0 and 1 are the first's, 2 and 3 the second's;
  /// 100 windows: 0 to 3, 4 to 7.
  static Owners in_runs(std::vector<int> nodes, std::int64_t windows, std::int64_t longest);
  /// Even shares of the windows from `first` to before `end`, in whole units of so many windows.
  static Owners even(std::vector<int> nodes, std::int64_t first, std::int64_t end,
                     std::int64_t unit = 1);

  int owner_of(std::int64_t window) const {
    return nodes_[static_cast<std::size_t>(map_.owner(window))];
  }
  /// Which of `count` leaders of a node deals with a window. Each aggregator of a node has a
  /// leader; if there are more leaders than aggregators, an aggregator's windows go to several in
  /// turn. The result is the same on the window's owner and on the nodes with parts in it, and,
  /// with persistent domains, in every call.
  int leader_of(std::int64_t window, int count) const {
    if (count == 1) return 0;
    const DomainMap::Place place = map_.place(window);
    return leader_of(place.aggregator, place.round, count);
  }
  /// The first window from `window` on that `node` owns and the leader deals with; -1 if there is
  /// none.
  std::int64_t next(int node, std::int64_t window, Leader leader = {}) const;
  /// The last such window in [begin, end); -1 if there is none.
  std::int64_t last(int node, std::int64_t begin, std::int64_t end, Leader leader = {}) const;

 private:
  /// A rule whose bytes are windows.
  Owners(std::vector<int> nodes, const DomainRule& rule, FileRange hull);

  int leader_of(int aggregator, std::int64_t round, int count) const {
    const Turn& turn = turns_[static_cast<std::size_t>(aggregator)];
    return static_cast<int>((turn.place + round % count * turn.on_node) % count);
  }

  /// Calls visit(aggregator, its rounds) for each aggregator of `node` that owns windows of a
  /// range.
  template <class Visit>
  void for_each(int node, FileRange windows, Visit visit) const;

  /// An aggregator among those of its node.
  struct Turn {
    int place = 0;
    int on_node = 0;
  };

  std::vector<int> nodes_;   ///< for each aggregator
  std::vector<Turn> turns_;  ///< for each aggregator
  /// Aggregators sorted by node, and where each node's begin: leaders ask for each node what it
  /// owns.
  std::vector<int> by_node_;
  std::vector<std::size_t> first_of_;
  DomainMap map_;
};

}  // namespace headrace::plan
