#pragma once

#include <vector>

#include "common/world.h"
#include "tune/figure.h"
#include "tune/requests.h"

namespace headrace::bench::tune {

/// What the nodes' reads of each other's writes showed.
struct Coherence {
  std::int64_t tries = 0;
  std::int64_t stale = 0;  ///< reads that did not see a write that had returned
};

/// Messages between the first rank and one of another node, and whether that one's reads see at
/// once what the first has written. Does nothing on one node. Collective over `world`. `place`: its
/// file counts on all ranks.
void measure_between_nodes(const World& world, const Place& place, double seconds,
                           std::vector<Figure>& figures, Coherence& coherence);

}  // namespace headrace::bench::tune
