#include "file/common_hints.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/fingerprint.h"
#include "base/settings.h"

namespace headrace::file {
namespace {

using exchange::Combine;
using exchange::Values;

static_assert(kCommonHintCount <= std::tuple_size_v<Values>);

/// By the numbers of CommonHint; the last stands for both of the setting's.
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

std::array<Combine, kCommonHintCount> all_by(Combine way) {
  std::array<Combine, kCommonHintCount> ways{};
  ways.fill(way);
  return ways;
}

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
  hints[kMostForObject] = wanted.aggregators.most_for_object;
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

Error take_first_ranks(exchange::Channel& channel, CommonHints& hints, Differences& different) {
  Values values;
  values.fill(std::numeric_limits<std::int64_t>::min());
  if (channel.rank() == 0) std::ranges::copy(hints, values.begin());
  if (Error error = channel.combine(values, all_by(Combine::max))) return error;
  CommonHints first{};
  std::copy_n(values.begin(), first.size(), first.begin());
  values = {};
  for (std::size_t i = 0; i < hints.size(); ++i) values[i] = hints[i] == first[i] ? 0 : 1;
  if (Error error = channel.combine(values, all_by(Combine::sum))) return error;
  std::copy_n(values.begin(), different.size(), different.begin());
  hints = first;
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
