#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plan/domains.h"

namespace headrace::plan {

/// Which node writes and reads a window of the file: DomainMap with nodes in place of their
/// aggregators. Windows are counted from the beginning of the file, so that with persistent domains
/// a node meets the same windows in every call, and with windows of whole stripes the same storage
/// targets.
class Owners {
 public:
  /// `nodes[a]`: the node of aggregator a; not empty. `unit`: windows that follow one another and
  /// have one owner. `period`: units after which the same storage targets come again; 0: not known.
  Owners(std::vector<int> nodes, std::int64_t unit, std::int64_t period);
  /// The same for stripes of `stripe` bytes on `stripe_count` targets; 0 where not known.
  static Owners of_stripes(std::vector<int> nodes, ByteCount window_size, ByteCount stripe,
                           std::int64_t stripe_count);
  /// `count` nodes in turn.
  static Owners in_turn(int count);
  /// Even shares of the windows from `first` to before `end`.
  static Owners even(std::vector<int> nodes, std::int64_t first, std::int64_t end);

  int owner_of(std::int64_t window) const {
    return nodes_[static_cast<std::size_t>(map_.owner(window))];
  }
  /// The first window from `window` on that `node` owns; -1 where there is none.
  std::int64_t next(int node, std::int64_t window) const;
  /// The last window before `end`, not before `begin`, that `node` owns; -1 where there is none.
  std::int64_t last(int node, std::int64_t begin, std::int64_t end) const;
  /// Windows from `begin` to before `end` that `node` owns.
  std::int64_t count(int node, std::int64_t begin, std::int64_t end) const;

 private:
  /// Windows take the place of bytes.
  Owners(std::vector<int> nodes, const DomainRule& rule, FileRange hull)
      : nodes_(std::move(nodes)), map_(rule, hull) {}

  /// Calls visit(aggregator, its rounds) for those of `node` that own windows of a range.
  template <class Visit>
  void for_each(int node, FileRange windows, Visit visit) const;

  std::vector<int> nodes_;
  DomainMap map_;
};

}  // namespace headrace::plan
