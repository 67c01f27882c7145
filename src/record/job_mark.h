#pragma once

#include <cstdint>
#include <string>

/// Which job a process belongs to, without a message: by what its launcher tells it.
namespace headrace::record {

/// A process of this node, for as long as the machine runs; numbers are 0 for none.
struct ProcessName {
  int number = 0;
  std::int64_t start = 0;  ///< process_start()
};

struct JobMark {
  /// What the launcher calls the job, the same on all nodes. Other jobs that run may have the same:
  /// whoever starts an MPI job from within another one passes its variables on.
  std::string base;
  /// What this node has once for the job: the launcher's process that started its ranks. Where it
  /// cannot be told, or several jobs may have the same, this process, so that each rank has its
  /// own.
  ProcessName process;
  /// The number that the batch system or the launcher gives the job, for the record's name; may be
  /// empty.
  std::string number;
  int ranks = 0;          ///< of MPI_COMM_WORLD
  int ranks_on_node = 0;  ///< of these on this node, with the same `process`; 0 if that is unknown

  bool is_on_one_node() const { return ranks > 0 && ranks == ranks_on_node; }
  std::string name() const { return name(process); }
  /// As ranks with another `process` have it. Fit for a file name.
  std::string name(const ProcessName& other) const;
};

/// `ranks`: of MPI_COMM_WORLD. `is_spawned`: by MPI_Comm_spawn.
JobMark find_job_mark(int ranks, bool is_spawned);

}  // namespace headrace::record
