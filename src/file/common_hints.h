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

/// What hints and settings ask for and all ranks must do alike, as numbers.
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

/// A number that is the same where all of these are.
std::int64_t fingerprint_of(const CommonHints& hints);

/// For each of them: how many ranks asked for something else than the first.
using Differences = CommonHints;

/// Collective, where fingerprints differ: the first rank's count for all. Takes no memory.
Error take_first_ranks(exchange::FileChannel& channel, CommonHints& hints, Differences& different);

/// Stripes that collective buffers follow: those that the settings pretend, else the file
/// system's, else those that hints tell of.
Stripes stripes_of(const storage::Layout& layout, const CommonHints& hints);

/// A line for each that some ranks asked for otherwise, out of `ranks`.
std::vector<std::string> explain_differences(const Differences& different, int ranks);

}  // namespace headrace::file
