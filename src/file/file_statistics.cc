#include <algorithm>
#include <iterator>
#include <vector>

#include "base/message.h"
#include "base/settings.h"
#include "file/lone_files.h"
#include "file/open_file.h"
#include "topo/node.h"

// What HEADRACE_IO_STATS and HEADRACE_IO_TIMERS print when a file is closed.

namespace headrace::file {
namespace {

RankIo rank_io(const IoSums& sums) {
  RankIo own;
  own.sums = sums;
  static_cast<void>(attempt([&]() -> Error {
    const std::string host = topo::host_name();
    std::copy_n(host.begin(), std::min(host.size(), own.host.size() - 1), own.host.begin());
    return {};
  }));
  return own;
}

/// Collective: all ranks' `own` on the first rank, in order; nothing on the others. Ranks that
/// cannot be reached, and those for which there is no memory, are left out.
std::vector<RankIo> gather_on_first(exchange::FileChannel& channel, const RankIo& own) {
  std::vector<RankIo> all;
  const auto keep = [&all](const RankIo& one) {
    static_cast<void>(attempt([&]() -> Error {
      all.push_back(one);
      return {};
    }));
  };
  if (channel.nodes().rank() != 0) {
    static_cast<void>(channel.exchange(0, std::as_bytes(std::span(&own, 1)), -1, {}));
    return all;
  }
  keep(own);
  for (int rank = 1; rank < channel.nodes().size(); ++rank) {
    RankIo other;
    if (channel.exchange(-1, {}, rank, std::as_writable_bytes(std::span(&other, 1)))) break;
    keep(other);
  }
  return all;
}

}  // namespace

/// Collective: all ranks add up what they counted, and the first one tells it, if its settings ask
/// for it. `closing`: ticks that this call has taken. `tells_ranks`: the same on all ranks.
void OpenFile::tell_statistics(std::int64_t closing, bool tells_ranks) const {
  IoSums sums = recorded_.sums();
  const OwnTimes own_times = recorded_.times(closing);
  const topo::NodeMap& nodes = channel_->nodes();
  if (nodes.size() == 1 && sums_up_lone_files()) {
    add_lone_file(path_, sums, own_times);
    return;
  }
  std::vector<RankIo> ranks;
  if (tells_ranks) ranks = gather_on_first(*channel_, rank_io(sums));
  IoTimes times = IoTimes::of(own_times);
  const bool is_counted = !add_up(*channel_, sums);
  const bool is_timed = !add_up(*channel_, times);
  if (nodes.rank() != 0) return;
  static_cast<void>(attempt([&]() -> Error {
    const DomainHints domains = executor_->collective().domains();
    const IoShape shape = {.path = path_,
                           .ranks = nodes.size(),
                           .nodes = nodes.node_count(),
                           .opens = recorded_.opens(),
                           .unit = recorded_.unit(),
                           .stripes = {domains.stripe, domains.stripe_count}};
    if (settings().io_stats > 0 && is_counted) {
      std::vector<std::string> lines = statistics_lines(shape, sums);
      std::ranges::move(rank_lines(ranks), std::back_inserter(lines));
      print_messages(lines);
    }
    if (settings().io_timers > 0 && is_timed) print_messages(timer_lines(shape, times));
    return {};
  }));
}

}  // namespace headrace::file
