#include "collectives/batches.h"

#include <algorithm>
#include <chrono>

#include "collectives/turns.h"

namespace headrace::bench::collectives {
namespace {

constexpr int kWarmUp = 8;  ///< calls: more than HEADRACE_COLL_AFTER
constexpr int kEmptyBatches = 5;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What is left of a batch's count, by call. Not less than nothing: what is subtracted varies.
double of_call(std::int64_t counted, std::int64_t aside, std::int64_t calls) {
  return static_cast<double>(std::max<std::int64_t>(counted - aside, 0)) /
         static_cast<double>(calls);
}

}  // namespace

Measured Batches::measure(Cell& cell, Ways ways) {
  Measured measured;
  double longest = 0;
  for (const auto& way : ways) {
    measured.wrong += check(cell, way);
    longest = std::max(longest, batch(cell, way, kWarmUp).seconds);
  }
  measured.calls = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(milliseconds_ / 1e3 / std::max(longest, 1e-9)), 1, 10'000);
  measured.seconds.resize(ways.size());
  if (traffic_.counts()) measured.sent.resize(ways.size());
  const Sent aside = traffic_.counts() ? sent_to_meet(cell, measured.calls) : Sent{};
  for (std::int64_t i = 0; i < count_; ++i) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = way_of(static_cast<std::size_t>(i), turn, ways.size());
      const Batch made = batch(cell, ways[way], measured.calls);
      measured.seconds[way].push_back(made.seconds);
      if (!traffic_.counts()) continue;
      measured.sent[way].push_back({of_call(made.sent.bytes, aside.bytes, measured.calls),
                                    of_call(made.sent.packets, aside.packets, measured.calls)});
    }
  }
  for (const auto& way : ways) measured.wrong += check(cell, way);
  return measured;
}

/// Each result is the same on all ranks. All have ended their calls before the counters are read
/// again: the largest time is known only then.
Batches::Batch Batches::batch(Cell& cell, const std::function<void()>& way, std::int64_t calls) {
  double spent = 0;
  own_.barrier(world_.communicator);
  if (traffic_.counts()) traffic_.begin();
  for (std::int64_t i = 0; i < calls; ++i) {
    cell.fill(++number_);
    if (cell.is_filled_unevenly()) own_.barrier(world_.communicator);
    const double begin = now();
    way();
    spent += now() - begin;
  }
  double longest = 0;
  own_.allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, world_.communicator);
  Batch made{longest / static_cast<double>(std::max<std::int64_t>(calls, 1)), {}};
  if (traffic_.counts()) made.sent = traffic_.end();
  return made;
}

/// What nodes send in a batch besides what its calls send: the median of several.
Sent Batches::sent_to_meet(Cell& cell, std::int64_t calls) {
  const std::int64_t meetings = cell.is_filled_unevenly() ? calls : 0;
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> packets;
  for (int i = 0; i < kEmptyBatches; ++i) {
    const Sent sent = batch(cell, [] {}, meetings).sent;
    bytes.push_back(sent.bytes);
    packets.push_back(sent.packets);
  }
  std::ranges::sort(bytes);
  std::ranges::sort(packets);
  return {bytes[kEmptyBatches / 2], packets[kEmptyBatches / 2]};
}

std::int64_t Batches::check(Cell& cell, const std::function<void()>& way) {
  std::int64_t wrong = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    cell.fill(++number_);
    way();
    wrong += cell.wrong(number_);
  }
  return sum(world_, wrong);
}

}  // namespace headrace::bench::collectives
