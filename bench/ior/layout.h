#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/world.h"
#include "ior/parameters.h"

namespace headrace::bench::ior {

/// Where the file's bytes belong. A segment holds one block of each task in task order, a block
/// holds transfers; a file per process holds the blocks of its task only.
class Layout {
 public:
  Layout(const Parameters& parameters, int task_count)
      : parameters_(parameters), tasks_in_file_(parameters.file_per_process ? 1 : task_count) {}

  /// Offset in bytes of a transfer of `task`; transfers are numbered 0 to transfers_per_task() - 1.
  std::int64_t offset(int task, std::int64_t transfer) const {
    const std::int64_t segment = transfer / parameters_.transfers_per_block();
    const std::int64_t within = transfer % parameters_.transfers_per_block();
    return segment * segment_size() + block_start(task) + within * parameters_.transfer_size;
  }

  std::int64_t segment_size() const { return parameters_.block_size * tasks_in_file_; }

  /// Offset of the task's block in a segment.
  std::int64_t block_start(int task) const {
    return parameters_.file_per_process ? 0 : task * parameters_.block_size;
  }

  std::int64_t file_size() const { return parameters_.segment_count * segment_size(); }

 private:
  const Parameters& parameters_;
  std::int64_t tasks_in_file_;
};

/// The name of the file that holds the data of `task` in a repetition.
std::string file_name(const Parameters& parameters, int task, std::int64_t repetition);

/// Which pass reads: each shifts further, so that no node meets data it has just had.
enum class Pass { read = 1, check_write = 2, check_read = 3 };

/// The task whose data each task reads back, by task. -C shifts by a constant number of nodes (by
/// tasks where all tasks sit on one node or ranks go round the nodes), -Z permutes at random, the
/// same on all ranks; without either each task reads its own.
std::vector<int> reading_order(const Parameters& parameters, const World& world, Pass pass,
                               std::int64_t repetition);

}  // namespace headrace::bench::ior
