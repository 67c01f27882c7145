#include "file/common_hints.h"

#include <algorithm>
#include <limits>

#include "base/fingerprint.h"
#include "base/settings.h"

namespace headrace::file {
namespace {

/// Combines to the first rank's numbers: all other ranks give the least possible.
struct FirstRanks {
  CommonHints hints;

  void combine(const FirstRanks& other) {
    for (std::size_t i = 0; i < hints.size(); ++i) {
      fabric::keep_greatest(hints[i], other.hints[i]);
    }
  }
};

/// For each hint, how many ranks differ from the first.
struct Differing {
  Differences ranks{};

  void combine(const Differing& other) {
    for (std::size_t i = 0; i < ranks.size(); ++i) fabric::add(ranks[i], other.ranks[i]);
  }
};

/// Indexed by CommonHint; the last name stands for the setting's two numbers.
constexpr std::array<const char*, kCommonHintCount - 1> kNames = {"headrace_write_path",
                                                                  "headrace_read_path",
                                                                  "cb_buffer_size",
                                                                  "striping_unit",
                                                                  "striping_factor",
                                                                  "cb_align",
                                                                  "cb_nodes",
                                                                  "cray_cb_nodes_multiplier",
                                                                  "romio_lustre_co_ratio",
                                                                  "headrace_lock_ahead",
                                                                  "cb_config_list",
                                                                  "HEADRACE_MIMIC_STRIPES"};

}  // namespace

CommonHints common_hints(const HintValues& wanted) {
  CommonHints hints{};
  hints[kWritePath] = static_cast<std::int64_t>(wanted.write_path);
  hints[kReadPath] = static_cast<std::int64_t>(wanted.read_path);
  hints[kBufferSize] = wanted.buffer_size;
  hints[kStripingUnit] = wanted.striping_unit;
  hints[kStripingFactor] = wanted.striping_factor;
  hints[kCbAlign] = static_cast<std::int64_t>(wanted.alignment);
  hints[kCbNodes] = wanted.aggregators.count;
  hints[kNodesMultiplier] = wanted.aggregators.multiplier;
  hints[kMaxForObject] = wanted.aggregators.most_for_object;
  hints[kLockAhead] = wanted.lock_ahead ? 1 : 0;
  hints[kHosts] = wanted.hosts.digest();
  hints[kMimicSize] = settings().mimic_stripes.size;
  hints[kMimicCount] = settings().mimic_stripes.count;
  return hints;
}

std::int64_t fingerprint_of(const CommonHints& hints) {
  Fingerprint print;
  for (const std::int64_t number : hints) print.add(number);
  return print.value();
}

Error take_first_ranks(exchange::FileChannel& channel, CommonHints& hints, Differences& different) {
  FirstRanks first{hints};
  if (channel.nodes().rank() != 0) first.hints.fill(std::numeric_limits<std::int64_t>::min());
  if (Error error = channel.combine(first)) return error;
  Differing differing;
  for (std::size_t i = 0; i < hints.size(); ++i) {
    differing.ranks[i] = hints[i] == first.hints[i] ? 0 : 1;
  }
  if (Error error = channel.combine(differing)) return error;
  different = differing.ranks;
  hints = first.hints;
  return {};
}

Stripes stripes_of(const storage::Layout& layout, const CommonHints& hints) {
  if (hints[kMimicSize] > 0) return {hints[kMimicSize], hints[kMimicCount]};
  Stripes found = storage::usable(layout.stripes);
  if (layout.is_endless) found.count = 0;
  if (found.size > 0) return found;
  return storage::usable({hints[kStripingUnit], hints[kStripingFactor]});
}

std::vector<std::string> explain_differences(const Differences& different, int ranks) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::int64_t others =
        i + 1 < kNames.size() ? different[i] : std::max(different[i], different[i + 1]);
    if (others == 0) continue;
    const char* const counts =
        i == kHosts ? "each node's first rank's counts there" : "the first rank's counts for all";
    lines.push_back(std::string(kNames[i]) + " is not the same on all ranks (" +
                    std::to_string(others) + " of " + std::to_string(ranks) +
                    " differ from the first), " + counts);
  }
  return lines;
}

}  // namespace headrace::file
