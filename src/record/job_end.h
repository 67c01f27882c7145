#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/settings.h"
#include "record/job_record.h"
#include "record/process_facts.h"

/// The record is made when the job ends. On one node rank 0 reads the images of all ranks. On
/// several each rank first tells all others where its image is; then each node's first rank, its
/// leader, reads those of its node and sends rank 0 the node's part.
namespace headrace::record {

/// Whether somebody wants a record of any job: HEADRACE_RECORD has a value other than auto.
bool is_asked_for(const Settings& settings);

/// What a rank tells the others. Plain numbers, which ranks send.
struct RankEnd {
  std::int64_t node = 0;           ///< the same for ranks of one node, and for these only
  std::int64_t process_start = 0;  ///< of JobMark::process
  std::int32_t process = 0;
  std::int32_t directory = -1;  ///< where its image is, in own_directories(); -1: it has none
};

/// `node`: a number of this node's.
RankEnd own_end(std::int64_t node);

/// Whether somebody has gone on already, as a rank sees it that came late. `until`: when each goes
/// on without the others, in ns since 1970. Clocks of nodes may differ by seconds, so no answer may
/// do harm.
bool has_gone_on(std::span<const std::int64_t> until, std::int64_t now);

/// The ranks of each node, in rank order; nodes in the order of their first ranks.
std::vector<std::vector<int>> nodes_of(std::span<const RankEnd> ends);

/// Where the images of a node's ranks are; "" for a rank that has none.
std::vector<std::string> images_of(std::span<const RankEnd> ends, std::span<const int> ranks);

/// A node's part, made by one of its ranks; `ends` of all ranks, `ranks` on the node. What cannot
/// be had is left out, with the reason.
GatheredNode gather_node(std::span<const RankEnd> ends, std::span<const int> ranks,
                         std::uint32_t node);

/// Removes the images of a node's ranks, by one of these.
void remove_images(std::span<const RankEnd> ends, std::span<const int> ranks);

/// The end of a job whose parts have been gathered: its record, and what there is to tell.
class JobEnd {
 public:
  /// Writes the record, if it is one to keep. `images`: of this node's ranks. `failed`: why there
  /// is nothing to write.
  JobEnd(JobRecord made, const Error& failed, std::vector<std::string> images);

  /// Whether nothing is lost if the job's images are removed.
  bool is_safe() const { return !is_kept_ || static_cast<bool>(written_); }
  /// The lines at the end of the job.
  void tell() const;
  /// They stay if the record could not be written.
  void remove_images();

 private:
  JobRecord job_;
  bool is_kept_ = false;
  Result<WrittenRecord> written_{WrittenRecord{}};
  std::vector<std::string> images_;
};

/// Rank 0, after MPI_Finalize: writes the record of a job of which only this node's images are
/// known, and removes these. It waits two seconds at most for ranks that have not come to
/// MPI_Finalize. `images`: where they are, from images_of(); if empty, those that have the job's
/// name. `missing`: why there are no others, if there may be.
void finish_job(const Facts& facts, std::vector<std::string> images, const std::string& missing);

/// Another rank of this node, which ends with a code other than 0 after MPI_Finalize: launchers
/// kill the others then. Waits until rank 0 has removed its image or has ended, 5 seconds at most.
void await_record();

}  // namespace headrace::record
