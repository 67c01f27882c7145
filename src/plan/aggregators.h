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

  /// Aggregators that `host` may have, of its `ranks` ranks. The first entry that names the host
  /// counts, or "*"; 0 where none does. A name without a domain stands for all its domains.
  int most_on(std::string_view host, int ranks) const;

  /// A number that is the same for equal lists, hardly ever for others.
  std::int64_t digest() const;

 private:
  struct Entry {
    std::string host;  ///< "*": any
    int most = 1;      ///< -1: all ranks
  };
  std::vector<Entry> entries_;
};

/// What the hints ask for; the same on all ranks.
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
  std::vector<Aggregator> aggregators;  ///< never empty where any node may have one
  /// Where the count is not the one asked for: which, and why. Else empty.
  std::string correction;
};

/// Chooses the aggregators of a file whose stripes go to `stripe_count` objects in turn (0: not
/// known). `places[n]` is how many node n may have: its ranks, or less (ConfigList).
///
/// Their count is the hint's; without one, stripe_count times the multiplier, or one a node where
/// stripes are not known. It is corrected to a multiple of the stripe count, or a divisor, so that
/// each has equally many objects and no two share one without need. Where every divisor would leave
/// half of the places or more unused, the count is the least that writes in as few rounds.
///
/// With `persistent` domains object t is written by aggregator t, or by t, t + stripe_count, ...
/// (fewer than objects: by t mod their count). Locks of parallel file systems belong to nodes; so
/// all aggregators of an object are on one node where it has places, and objects are spread over
/// the nodes evenly, leaders first.
///
/// Example: 4 nodes of 2 places. 4 objects: {0,0} {1,0} {2,0} {3,0}. 2 objects: {0,0} {2,0}.
/// 8 objects: {0,0} {1,0} {2,0} {3,0} {0,1} {1,1} {2,1} {3,1}. 16 objects: the same 8. 2 objects
/// and multiplier 2: {0,0} {2,0} {0,1} {2,1}. Not known: {0,0} {1,0} {2,0} {3,0}.
AggregatorChoice choose_aggregators(std::span<const int> places, std::int64_t stripe_count,
                                    const AggregatorHints& hint);

}  // namespace headrace::plan
