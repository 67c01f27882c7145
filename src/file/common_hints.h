#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange/file_channel.h"
#include "file/hints.h"
#include "storage/file_layout.h"

namespace headrace::file {

/// Hints and settings that must be the same on all ranks, as numbers.
enum CommonHint : std::size_t {
  kWritePath,
  kReadPath,
  kBufferSize,
  kStripingUnit,
  kStripingFactor,
  kCbAlign,
  kCbNodes,
  kNodesMultiplier,
  kMaxForObject,
  kLockAhead,
  kHosts,
  kMimicSize,
  kMimicCount,
  kCommonHintCount
};
using CommonHints = std::array<std::int64_t, kCommonHintCount>;

CommonHints common_hints(const HintValues& wanted);

/// A hash of these hints.
std::int64_t fingerprint_of(const CommonHints& hints);

/// For each hint: how many ranks gave another value than the first rank.
using Differences = CommonHints;

/// Collective, if fingerprints differ: sets `hints` to the first rank's. Takes no memory.
Error take_first_ranks(exchange::FileChannel& channel, CommonHints& hints, Differences& different);

/// The stripes that collective buffers follow: those of HEADRACE_MIMIC_STRIPES, else the file
/// system's, else those of hints.
Stripes stripes_of(const storage::Layout& layout, const CommonHints& hints);

/// A line for each hint that differs on some of the `ranks` ranks.
std::vector<std::string> explain_differences(const Differences& different, int ranks);

}  // namespace headrace::file
