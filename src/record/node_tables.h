#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/clock.h"
#include "record/image_reader.h"
#include "record/packing.h"
#include "record/process_facts.h"
#include "record/run_findings.h"

/// The images of one node's ranks -> the node's tables of a record.
namespace headrace::record {

/// What the images of one node or more tell of the job. Plain numbers: nodes send it.
struct JobSummary {
  std::int64_t rank_count = 0;  ///< of the job
  std::int64_t nodes = 0;
  std::int64_t ranks = 0;       ///< that are there
  std::int64_t finalized = 0;   ///< of these
  std::int64_t start = 0;       ///< of the first, in ns since 1970
  std::int64_t run = 0;         ///< of the one that ran longest, in ns
  std::int64_t lost_calls = 0;  ///< of threads that found no room, at least
  std::int64_t moved = 0;       ///< bytes that calls sent, wrote, received or read
  RunTimes times{};

  bool is_complete() const { return ranks == rank_count && finalized == rank_count; }
  void add(const JobSummary& other);
};

/// One node's part of a record.
struct NodeRecord {
  Sections sections;
  JobSummary summary;
  Facts facts;  ///< of the node's lowest rank
  Costliest first;
  /// Files, each once, that a rank had open to write to through buffers as if nobody else did,
  /// where other nodes may reach them.
  std::vector<std::string> held_files = {};
};

/// `images` by rank, each rank once. `now`: of this node.
NodeRecord make_node_record(std::span<const Image> images, std::uint32_t node,
                            const ClockReading& now);

}  // namespace headrace::record
