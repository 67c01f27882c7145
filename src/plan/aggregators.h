#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headrace::plan {

/// ROMIO's `cb_config_list`: how many aggregators a host may have, as in "*:1", "n1:2,n2", "*:*".
class ConfigList {
 public:
  ConfigList() = default;  ///< any number on any host
  /// The error's message is the rest of a sentence that begins with the text.
  static Result<ConfigList> parse(std::string_view text);

  bool is_empty() const { return entries_.empty(); }

  /// How many aggregators `host` may have, of its `ranks` ranks. The first entry that names the
  /// host, or "*", counts; 0 if there is none. A name without a domain matches the host in any
  /// domain.
  int most_on(std::string_view host, int ranks) const;

  /// A hash of the list.
  std::int64_t digest() const;

 private:
  struct Entry {
    std::string host;  ///< "*": any
    int most = 1;      ///< -1: all ranks
  };
  std::vector<Entry> entries_;
};

/// What the hints ask for. The same on all ranks.
struct AggregatorHints {
  std::int64_t count = 0;  ///< cb_nodes; 0: not given
  std::int64_t multiplier =
      0;  ///< cray_cb_nodes_multiplier: aggregators for each object; 0: not given
  std::int64_t most_for_object = 0;  ///< romio_lustre_co_ratio: at most so many; 0: not given

  bool operator==(const AggregatorHints&) const = default;
};

/// An aggregator: a place on a node, 0 for the node's leader.
struct Aggregator {
  int node = 0;
  int place = 0;

  bool operator==(const Aggregator&) const = default;
};

struct AggregatorChoice {
  std::vector<Aggregator> aggregators;  ///< not empty if any node may have one
  /// If the count is not the requested one: the count, and why. Otherwise empty.
  std::string correction;
};

/// Chooses the aggregators of a file whose stripes go to `stripe_count` objects in turn (0:
/// unknown). `places[n]` is how many node n may have: as many as its ranks, or fewer (ConfigList).
///
/// Their count is the hint's. Without a hint, it is stripe_count times the multiplier, or one for
/// each node if stripes are unknown. The count is corrected to a multiple or a divisor of the
/// stripe count, so that each aggregator has equally many objects and no two share one without
/// need. If every divisor would leave half of the places or more unused, the count is the least
/// that writes in as few rounds.
///
/// With `persistent` domains, aggregators t, t + stripe_count, ... write object t; if there are
/// fewer aggregators than objects, aggregator t mod their count does. Locks of parallel file
/// systems belong to nodes. So all aggregators of an object are on one node if it has places, and
/// objects are spread evenly over the nodes, leaders first.
///
/// Example: 4 nodes of 2 places. 4 objects: {0,0} {1,0} {2,0} {3,0}. 2 objects: {0,0} {2,0}.
/// 8 objects: {0,0} {1,0} {2,0} {3,0} {0,1} {1,1} {2,1} {3,1}. 16 objects: the same 8. 2 objects
/// and multiplier 2: {0,0} {2,0} {0,1} {2,1}. Not known: {0,0} {1,0} {2,0} {3,0}.
AggregatorChoice choose_aggregators(std::span<const int> places, std::int64_t stripe_count,
                                    const AggregatorHints& hint);

}  // namespace headrace::plan
