#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"

namespace headrace::policy {

/// What a node knows before a call about how many of its ranks could lead. Each leader sends a
/// share of the node's messages and has a share of its windows written.
struct LeaderFacts {
  int nodes = 1;
  int ranks = 1;             ///< of this node
  int cores = 1;             ///< of this node
  int most = 1;              ///< the most leaders that a node can have
  std::int64_t asked = 0;    ///< how many aggregators hints ask for, on all nodes; 0: no hint does
  std::int64_t objects = 0;  ///< how many objects the file's stripes go to; 0: unknown
};

/// How many of a node's ranks should be ready to lead; at least 1.
int leaders_to_prepare(const LeaderFacts& facts);

enum class LeaderReason { asked_for, small_call, estimated, no_more };

struct LeaderDecision {
  int leaders = 1;  ///< on each node
  LeaderReason reason = LeaderReason::no_more;
};

/// How many ranks of each node lead in a call of `bytes` bytes of all nodes, if each node has
/// `ready` ranks for it: as many as aggregators were `asked` for on one node (0: none were),
/// otherwise by estimated time.
LeaderDecision decide_leaders(int nodes, int ready, int asked, ByteCount bytes);

/// "2 leaders a node: asked for by hint"; empty for one leader by default.
std::string explain(const LeaderDecision& decision);

/// Estimated nanoseconds of a call's messages and writes on one node with so many leaders.
double leading_cost(int nodes, int leaders, ByteCount bytes);

}  // namespace headrace::policy
