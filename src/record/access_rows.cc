#include "record/access_rows.h"

#include <algorithm>
#include <array>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

using Column = std::int64_t AccessesRow::*;
using Bins = std::array<Column, kAccessBins>;

constexpr Bins kReadBins = {&AccessesRow::read_bin0, &AccessesRow::read_bin1,
                            &AccessesRow::read_bin2, &AccessesRow::read_bin3,
                            &AccessesRow::read_bin4, &AccessesRow::read_bin5,
                            &AccessesRow::read_bin6, &AccessesRow::read_bin7,
                            &AccessesRow::read_bin8, &AccessesRow::read_bin9};
constexpr Bins kWriteBins = {&AccessesRow::write_bin0, &AccessesRow::write_bin1,
                             &AccessesRow::write_bin2, &AccessesRow::write_bin3,
                             &AccessesRow::write_bin4, &AccessesRow::write_bin5,
                             &AccessesRow::write_bin6, &AccessesRow::write_bin7,
                             &AccessesRow::write_bin8, &AccessesRow::write_bin9};
constexpr std::array<Column, 17> kSums = {&AccessesRow::opens,
                                          &AccessesRow::reads,
                                          &AccessesRow::writes,
                                          &AccessesRow::seeks,
                                          &AccessesRow::syncs,
                                          &AccessesRow::maps,
                                          &AccessesRow::read,
                                          &AccessesRow::written,
                                          &AccessesRow::mapped,
                                          &AccessesRow::read_time,
                                          &AccessesRow::write_time,
                                          &AccessesRow::other_time,
                                          &AccessesRow::sequential_reads,
                                          &AccessesRow::consecutive_reads,
                                          &AccessesRow::sequential_writes,
                                          &AccessesRow::consecutive_writes,
                                          &AccessesRow::unaligned};

/// Returns how many calls there were.
std::int64_t take_bins(AccessesRow& row, const Bins& bins, const DirectionCounts& counts) {
  std::int64_t calls = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    row.*bins[i] = not_negative(counts.bins[i]);
    calls = sum(calls, row.*bins[i]);
  }
  return calls;
}

/// Between two readings of one counter; -1 if either is not known.
std::int64_t growth(std::int64_t begin, std::int64_t end) {
  return begin < 0 || end < begin ? -1 : end - begin;
}

}  // namespace

AccessesRow accesses_row(const AccessCounts& counts, const RankTimes& times) {
  AccessesRow row;
  row.opens = not_negative(counts.opens);
  row.reads = take_bins(row, kReadBins, counts.reads);
  row.writes = take_bins(row, kWriteBins, counts.writes);
  row.seeks = not_negative(counts.seeks);
  row.syncs = not_negative(counts.syncs);
  row.maps = not_negative(counts.maps);
  row.read = not_negative(counts.reads.bytes);
  row.written = not_negative(counts.writes.bytes);
  row.mapped = not_negative(counts.mapped);
  row.read_time = times.ns(counts.reads.ticks);
  row.write_time = times.ns(counts.writes.ticks);
  row.other_time = times.ns(counts.other_ticks);
  row.sequential_reads = not_negative(counts.reads.sequential);
  row.consecutive_reads = not_negative(counts.reads.consecutive);
  row.sequential_writes = not_negative(counts.writes.sequential);
  row.consecutive_writes = not_negative(counts.writes.consecutive);
  row.unaligned = not_negative(counts.unaligned);
  row.block = not_negative(counts.block);
  row.furthest_read = not_negative(counts.reads.furthest);
  row.furthest_written = not_negative(counts.writes.furthest);
  return row;
}

bool is_empty(const AccessesRow& row) {
  return std::ranges::all_of(kSums, [&](Column column) { return row.*column == 0; });
}

void add_accesses(AccessesRow& into, const AccessesRow& row) {
  for (const Column column : kSums) into.*column = sum(into.*column, row.*column);
  for (const Bins& bins : {kReadBins, kWriteBins}) {
    for (const Column column : bins) into.*column = sum(into.*column, row.*column);
  }
  into.block = std::max(into.block, row.block);
  into.furthest_read = std::max(into.furthest_read, row.furthest_read);
  into.furthest_written = std::max(into.furthest_written, row.furthest_written);
}

void add_process_io(RanksRow& row, const ImageHeader& header) {
  const ProcessIo& begin = header.io_begin;
  const ProcessIo& end = header.io_end;
  row.system_read = growth(begin.read, end.read);
  row.system_written = growth(begin.written, end.written);
  row.device_read = growth(begin.device_read, end.device_read);
  row.device_written = growth(begin.device_written, end.device_written);
  row.other_read = not_negative(header.other.read);
  row.other_written = not_negative(header.other.written);
  row.rings = not_negative(header.other.rings);
}

}  // namespace headrace::record
