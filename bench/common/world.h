#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::bench {

/// Seconds on a clock that all processes of a node share.
double node_clock();

/// The ranks that take part in a benchmark and the nodes they sit on.
struct World {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int node_count = 1;
  int ranks_per_node = 1;          ///< on the node of rank 0
  int largest_node = 1;            ///< ranks of the node that has most
  std::vector<int> node_sizes{1};  ///< ranks of each node, in the order of their first ranks
  bool consecutive = true;         ///< ranks 0 and 1 share a node (or there is one rank)
  double clock_offset = 0;         ///< added to this rank's clock gives rank 0's, in seconds

  /// Seconds on rank 0's clock. On one node the clock is common and nothing is added; that of
  /// MPI_Wtime is not (Open MPI's begins at 0 in each process).
  double now() const { return node_clock() + clock_offset; }
};

/// The clock of one rank's access. It stands while something is done that is no part of it.
class AccessClock {
 public:
  explicit AccessClock(const World& world) : world_(world) {}

  double now() const { return world_.now() - stood_; }

  template <class Action>
  auto stand_during(Action action) {
    const double begin = world_.now();
    auto result = action();
    stood_ += world_.now() - begin;
    return result;
  }

 private:
  const World& world_;
  double stood_ = 0;  ///< seconds
};

/// Finds out about the ranks of `communicator`. Collective.
World survey(MPI_Comm communicator);

/// When the phases of one access began and ended, on one rank.
struct Stamps {
  double open_begin = 0, open_end = 0;
  double transfer_begin = 0, transfer_end = 0;
  double close_begin = 0, close_end = 0;
};

/// Durations in seconds over all ranks: each from the earliest begin to the latest end.
struct Durations {
  double open = 0;
  double transfer = 0;
  double close = 0;
  double total = 0;
};

/// Collective; every rank gets the result.
Durations durations(const World& world, const Stamps& stamps);

/// The sum over all ranks. Collective.
std::int64_t sum(const World& world, std::int64_t value);

/// The first line of MPI_Get_library_version.
std::string library_version();

/// "Sat Nov 21 20:49:00 2026", local time.
std::string date_text();

/// Mean, population standard deviation and extremes of `values`, which must not be empty.
struct Statistics {
  double minimum = 0, maximum = 0, mean = 0, deviation = 0;
};
Statistics statistics(const std::vector<double>& values);

}  // namespace headrace::bench
