#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"

namespace headrace::policy {

/// What a node knows before a call of how many of its ranks might lead: send its messages and have
/// its windows written, each a share of them.
struct LeaderFacts {
  int nodes = 1;
  int ranks = 1;             ///< of this node
  int cores = 1;             ///< of this node
  int most = 1;              ///< that the engine can do with
  std::int64_t asked = 0;    ///< aggregators that hints ask for, of all nodes; 0: none do
  std::int64_t objects = 0;  ///< that the file's stripes go to; 0: not known
};

/// How many of a node's ranks should be ready to lead; at least 1.
int leaders_to_prepare(const LeaderFacts& facts);

enum class LeaderReason { asked_for, small_call, estimated, no_more };

struct LeaderDecision {
  int leaders = 1;  ///< of each node
  LeaderReason reason = LeaderReason::no_more;
};

/// How many lead in a call of `bytes` bytes of all nodes, where each has `ready` ranks for it: as
/// many as aggregators that were `asked` for on one node (0: nobody asked), else by estimated time.
LeaderDecision decide_leaders(int nodes, int ready, int asked, ByteCount bytes);

/// "2 leaders a node: asked for by hint"; empty for one leader that nobody chose.
std::string explain(const LeaderDecision& decision);

/// Estimated nanoseconds of a call's messages and writes on one node with so many leaders.
double leading_cost(int nodes, int leaders, ByteCount bytes);

}  // namespace headrace::policy
