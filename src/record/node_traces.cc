#include "record/node_traces.h"

#include <algorithm>
#include <bit>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kWays = 5;

/// What a killed process left half written is brought into bounds. Sums without what tracing took
/// may be below 0, and stay so: whoever adds rows up would get too much of rows that were cut.
TracedRow traced_row(const TracedCalls& calls, const RankTimes& times) {
  TracedRow row;
  const std::int64_t ended = std::clamp<std::int64_t>(calls.ended, 0, calls.calls);
  row.calls = calls.calls;
  row.unended = calls.calls - ended;
  row.time = times.signed_ns(calls.ticks);
  row.own = times.signed_ns(calls.own);
  row.mpi = times.ns(calls.mpi);
  row.greatest = times.ns(calls.greatest);
  row.least = ended == 0 ? 0 : std::min(times.ns(calls.least), row.greatest);
  row.moved = not_negative(calls.moved);
  return row;
}

void merge(TracedRow& into, const TracedRow& row) {
  const bool had_none = into.calls == into.unended;
  const bool has_none = row.calls == row.unended;
  if (!has_none) into.least = had_none ? row.least : std::min(into.least, row.least);
  into.greatest = std::max(into.greatest, row.greatest);
  for (std::int64_t TracedRow::* const column :
       {&TracedRow::calls, &TracedRow::unended, &TracedRow::time, &TracedRow::own, &TracedRow::mpi,
        &TracedRow::moved}) {
    into.*column = sum(into.*column, row.*column);
  }
}

}  // namespace

/// The place of each note's.
std::vector<std::int64_t> NodeTraces::functions_of(const Image& image) {
  std::vector<std::int64_t> places;
  const auto count = static_cast<std::uint32_t>(image.notes(NoteKind::traced).size());
  for (std::uint32_t note = 0; note < count; ++note) {
    const auto field = [&](std::size_t i) { return image.field(NoteKind::traced, note, i); };
    FunctionsRow row;
    row.name = texts_.place(field(0));
    row.group = texts_.place(field(1));
    row.way = std::min(not_negative(number_in(field(2), 0)), kWays - 1);
    if (!field(3).empty()) row.module = paths_.module(field(3), field(4));
    row.offset = not_negative(number_in(field(5), 0));
    row.refusal = texts_.place(field(6));
    const auto [found, is_new] =
        places_.try_emplace(std::bit_cast<std::array<std::int64_t, 6>>(row),
                            static_cast<std::int64_t>(functions_.size()));
    if (is_new) functions_.push_back(row);
    places.push_back(found->second);
  }
  return places;
}

void NodeTraces::add(const Image& image, const RankTimes& times,
                     std::span<const std::int64_t> regions) {
  const std::vector<std::int64_t> functions = functions_of(image);
  for (const auto& [number, thread] : image.traced()) {
    const std::vector<std::int64_t> paths = paths_.add(image, thread.frames);
    for (const TracedCalls& calls : thread.calls) {
      if (calls.calls <= 0 || calls.function == kNone) continue;
      TracedRow row = traced_row(calls, times);
      row.rank = image.header().rank;
      row.thread = number;
      row.function = functions[calls.function];
      row.path = calls.path == kNone ? -1 : paths[calls.path];
      row.region = regions[calls.region];
      const Key key = {row.rank, row.thread, row.function, row.path, row.region};
      const auto [found, is_new] = calls_.try_emplace(key, row);
      if (!is_new) merge(found->second, row);
    }
  }
}

std::vector<TracedRow> NodeTraces::calls() const {
  std::vector<TracedRow> rows;
  rows.reserve(calls_.size());
  for (const auto& [key, row] : calls_) rows.push_back(row);
  return rows;
}

}  // namespace headrace::record
