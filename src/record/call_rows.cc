#include "record/call_rows.h"

#include <algorithm>
#include <tuple>

#include "record/access_rows.h"
#include "record/bounds.h"
#include "record/file_rows.h"

namespace headrace::record {
namespace {

auto key(const CallsRow& row) {
  return std::tie(row.procedure, row.class_, row.path, row.communicator, row.region, row.rank,
                  row.thread);
}

auto key(const WaitsRow& row) {
  return std::tie(row.procedure, row.path, row.communicator, row.region, row.rank, row.thread);
}

auto key(const MatrixRow& row) {
  return std::tie(row.rank, row.peer);
}

auto key(const FilesRow& row) {
  return std::tie(row.file, row.rank);
}

auto key(const AccessesRow& row) {
  return std::tie(row.file, row.layer, row.rank);
}

void add(std::int64_t& into, std::int64_t value) {
  into = sum(into, value);
}

void merge(CallsRow& into, const CallsRow& row) {
  if (row.calls > 0) into.least = into.calls > 0 ? std::min(into.least, row.least) : row.least;
  for (std::int64_t CallsRow::* const column :
       {&CallsRow::calls, &CallsRow::failed, &CallsRow::sent, &CallsRow::received, &CallsRow::time,
        &CallsRow::bin0, &CallsRow::bin1, &CallsRow::bin2, &CallsRow::bin3, &CallsRow::bin4,
        &CallsRow::bin5, &CallsRow::bin6}) {
    add(into.*column, row.*column);
  }
  into.greatest = std::max(into.greatest, row.greatest);
}

void merge(WaitsRow& into, const WaitsRow& row) {
  for (std::int64_t WaitsRow::* const column :
       {&WaitsRow::calls, &WaitsRow::time, &WaitsRow::least, &WaitsRow::most}) {
    add(into.*column, row.*column);
  }
}

void merge(MatrixRow& into, const MatrixRow& row) {
  add(into.messages, row.messages);
  add(into.sent, row.sent);
}

void merge(FilesRow& into, const FilesRow& row) {
  add_files(into, row);
}

void merge(AccessesRow& into, const AccessesRow& row) {
  add_accesses(into, row);
}

template <class AnyRow>
void sort_and_merge_any(std::vector<AnyRow>& rows) {
  std::ranges::sort(rows, [](const auto& one, const auto& other) { return key(one) < key(other); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (key(rows[kept]) == key(rows[i])) {
      merge(rows[kept], rows[i]);
    } else {
      rows[++kept] = rows[i];
    }
  }
  if (!rows.empty()) rows.resize(kept + 1);
}

}  // namespace

std::int64_t sum(std::int64_t one, std::int64_t other) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(one, other, &result)) return result;
  return one < 0 ? INT64_MIN : INT64_MAX;
}

CallsRow call_row(const Row& row, const RankTimes& times) {
  CallsRow made;
  made.calls = not_negative(row.calls);
  made.failed = not_negative(row.failed);
  made.sent = not_negative(row.sent);
  made.received = not_negative(row.received);
  made.time = times.ns(row.ticks);
  made.greatest = times.ns(row.greatest);
  made.least = std::min(times.ns(row.least), made.greatest);
  made.bin0 = not_negative(row.bins[0]);
  made.bin1 = not_negative(row.bins[1]);
  made.bin2 = not_negative(row.bins[2]);
  made.bin3 = not_negative(row.bins[3]);
  made.bin4 = not_negative(row.bins[4]);
  made.bin5 = not_negative(row.bins[5]);
  made.bin6 = not_negative(row.bins[6]);
  return made;
}

WaitsRow waits_row(const WaitItem& item, const RankTimes& times) {
  WaitsRow made;
  made.calls = not_negative(item.calls);
  made.time = times.ns(item.ticks);
  made.most = std::min(times.ns(item.most), made.time);
  made.least = std::min(times.ns(item.least), made.most);
  return made;
}

void sort_and_merge(std::vector<CallsRow>& rows) {
  sort_and_merge_any(rows);
}

void sort_and_merge(std::vector<WaitsRow>& rows) {
  sort_and_merge_any(rows);
}

void sort_and_merge(std::vector<MatrixRow>& rows) {
  sort_and_merge_any(rows);
}

void sort_and_merge(std::vector<FilesRow>& rows) {
  sort_and_merge_any(rows);
}

void sort_and_merge(std::vector<AccessesRow>& rows) {
  sort_and_merge_any(rows);
}

}  // namespace headrace::record
