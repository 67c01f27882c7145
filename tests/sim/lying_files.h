#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "sim/disk.h"

namespace headrace::sim {

/// What a storage that loses data does to one write, which it reports as done.
enum class Lie { corrupt, drop, misplace };

/// Shared by the ranks of a job: the write that is lied about, counted over all of them.
struct LiePlan {
  Lie lie = Lie::corrupt;
  std::int64_t nth = 0;
  std::atomic<std::int64_t> writes{0};
};

/// `files` with one lie.
std::unique_ptr<storage::FileSystem> lying_files(storage::FileSystem& files, LiePlan& plan);

}  // namespace headrace::sim
