#include "record/file_rows.h"

#include <algorithm>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

struct CountColumn {
  std::int64_t FilesRow::* column;
  std::int64_t FileCounts::* count;
};

constexpr CountColumn kCounts[] = {
    {&FilesRow::opens, &FileCounts::opens},
    {&FilesRow::read, &FileCounts::read},
    {&FilesRow::written, &FileCounts::written},
    {&FilesRow::reads, &FileCounts::reads},
    {&FilesRow::writes, &FileCounts::writes},
    {&FilesRow::collective_reads, &FileCounts::collective_reads},
    {&FilesRow::collective_writes, &FileCounts::collective_writes},
    {&FilesRow::write_gaps, &FileCounts::gaps},
    {&FilesRow::write_gap_bytes, &FileCounts::gap_bytes},
};

constexpr CountColumn kTimes[] = {
    {&FilesRow::time, &FileCounts::ticks},       {&FilesRow::exchange, &FileCounts::exchange},
    {&FilesRow::wait, &FileCounts::wait},        {&FilesRow::copy, &FileCounts::copy},
    {&FilesRow::store, &FileCounts::store},      {&FilesRow::open_time, &FileCounts::open},
    {&FilesRow::close_time, &FileCounts::close}, {&FilesRow::meet, &FileCounts::meet},
    {&FilesRow::send, &FileCounts::send},        {&FilesRow::store_read_time, &FileCounts::reading},
};

struct RequestColumn {
  std::int64_t FilesRow::* of_reads;
  std::int64_t FilesRow::* of_writes;
  std::int64_t RequestCounts::* count;
};

constexpr RequestColumn kRequests[] = {
    {&FilesRow::read_requests, &FilesRow::write_requests, &RequestCounts::requests},
    {&FilesRow::collective_read_requests, &FilesRow::collective_write_requests,
     &RequestCounts::collective},
    {&FilesRow::unit_read_requests, &FilesRow::unit_write_requests, &RequestCounts::whole},
    {&FilesRow::small_read_requests, &FilesRow::small_write_requests, &RequestCounts::small},
    {&FilesRow::unaligned_read_requests, &FilesRow::unaligned_write_requests,
     &RequestCounts::unaligned},
    {&FilesRow::repeated_reads, &FilesRow::repeated_writes, &RequestCounts::repeated},
};

void add_to(std::int64_t& into, std::int64_t more) {
  into = sum(into, more);
}

/// -1: not known.
void add_if_known(std::int64_t& into, std::int64_t more) {
  if (more < 0) return;
  into = into < 0 ? more : sum(into, more);
}

}  // namespace

FilesRow files_row(const FileCounts& counts, const RankTimes& times) {
  FilesRow row;
  for (const auto& [column, count] : kCounts) row.*column = not_negative(counts.*count);
  for (const auto& [column, count] : kTimes) row.*column = times.ns(counts.*count);
  for (const RequestColumn& one : kRequests) {
    row.*one.of_reads = not_negative(counts.read_requests.*one.count);
    row.*one.of_writes = not_negative(counts.write_requests.*one.count);
  }
  row.store_read = std::max<std::int64_t>(counts.store_read, -1);
  row.store_written = std::max<std::int64_t>(counts.store_written, -1);
  row.unit = not_negative(counts.unit);
  return row;
}

void add_files(FilesRow& into, const FilesRow& row) {
  for (const CountColumn& one : kCounts) add_to(into.*one.column, row.*one.column);
  for (const CountColumn& one : kTimes) add_to(into.*one.column, row.*one.column);
  for (const RequestColumn& one : kRequests) {
    add_to(into.*one.of_reads, row.*one.of_reads);
    add_to(into.*one.of_writes, row.*one.of_writes);
  }
  add_if_known(into.store_read, row.store_read);
  add_if_known(into.store_written, row.store_written);
  into.unit = std::max(into.unit, row.unit);
}

}  // namespace headrace::record
