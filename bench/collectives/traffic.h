#pragma once

#include <mpi.h>

#include "collectives/functions.h"
#include "collectives/sent_counters.h"
#include "common/world.h"

namespace headrace::bench::collectives {

/// Counts what all nodes send between two moments: one rank of each node reads the counters of its
/// interfaces, while the others of the node wait. They meet by the library's own barrier on the
/// node, which sends nothing to other nodes.
class Traffic {
 public:
  /// Collective, like all its functions. `wanted`: whether it counts at all.
  Traffic(const World& world, const Functions& own, bool wanted);
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  ~Traffic();

  /// Whether it is wanted, there are several nodes, and the counters of all can be read.
  bool counts() const { return counts_; }
  void begin() { before_ = read(); }
  /// What all nodes have sent since begin(); the same on all ranks. A counter that has gone back
  /// makes it negative.
  Sent end();

 private:
  Sent read();

  const World& world_;
  Functions own_;
  MPI_Comm node_ = MPI_COMM_NULL;
  bool reads_ = false;  ///< this rank does, for its node
  bool counts_ = false;
  Sent before_;
};

}  // namespace headrace::bench::collectives
