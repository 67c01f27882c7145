#pragma once

#include <cstdint>
#include <span>
#include <string>

/// Images that killed jobs have left, which nobody gathered.
namespace headrace::record {

/// What killed jobs may keep on a node.
struct KeptImages {
  std::int64_t seconds = std::int64_t{7} * 24 * 3600;  ///< since a job's directory last changed
  std::int64_t bytes = std::int64_t{256} << 20;        ///< of all, the newest first
  int singles = 32;  ///< jobs of one rank, the newest first: many scripts end without MPI_Finalize
};

/// Removes what is beyond these bounds from `directories` (image_directories()), never what belongs
/// to another user, or to a job of which a process may still run. Failures are left alone.
void remove_old_images(std::span<const std::string> directories, const KeptImages& kept);

}  // namespace headrace::record
