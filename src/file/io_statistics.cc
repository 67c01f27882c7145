#include "file/io_statistics.h"

#include <cstddef>

namespace headrace::file {
namespace {

template <class Sums, std::size_t kCount>
void add_fields(Sums& into, const Sums& from, std::int64_t Sums::* const (&fields)[kCount]) {
  for (std::int64_t Sums::* const field : fields) fabric::add(into.*field, from.*field);
}

constexpr std::int64_t CallSums::* kCallFields[] = {
    &CallSums::active_ranks,      &CallSums::reads, &CallSums::writes, &CallSums::collective_reads,
    &CallSums::collective_writes, &CallSums::read,  &CallSums::written};

constexpr std::int64_t RequestSums::* kRequestFields[] = {
    &RequestSums::aggregators, &RequestSums::independent, &RequestSums::bytes,
    &RequestSums::requests,    &RequestSums::collective,  &RequestSums::whole,
    &RequestSums::small,       &RequestSums::unaligned,   &RequestSums::repeated,
    &RequestSums::gaps,        &RequestSums::gap_bytes};

/// Times as ranks post them: all three kinds together are more than a rank can post.
struct Least {
  OwnTimes values;
  void combine(const Least& other) {
    for (std::size_t i = 0; i < kIoTimes; ++i) fabric::keep_least(values[i], other.values[i]);
  }
};
struct Greatest {
  OwnTimes values;
  void combine(const Greatest& other) {
    for (std::size_t i = 0; i < kIoTimes; ++i) fabric::keep_greatest(values[i], other.values[i]);
  }
};
struct Total {
  OwnTimes values;
  void combine(const Total& other) {
    for (std::size_t i = 0; i < kIoTimes; ++i) fabric::add(values[i], other.values[i]);
  }
};

template <class Kind>
Error combine_times(fabric::Combining& ranks, OwnTimes& values) {
  Kind all{values};
  Error failed = ranks.combine(all);
  values = all.values;
  return failed;
}

RequestSums requests_since(const record::RequestCounts& begin, const record::RequestCounts& now) {
  using Counts = record::RequestCounts;
  const auto since = [&](std::int64_t Counts::* field) { return now.*field - begin.*field; };
  RequestSums sums;
  sums.requests = since(&Counts::requests);
  sums.collective = since(&Counts::collective);
  sums.aggregators = sums.collective > 0 ? 1 : 0;
  sums.independent = sums.requests > sums.collective ? 1 : 0;
  sums.whole = since(&Counts::whole);
  sums.small = since(&Counts::small);
  sums.unaligned = since(&Counts::unaligned);
  sums.repeated = since(&Counts::repeated);
  return sums;
}

}  // namespace

void CallSums::combine(const CallSums& other) {
  add_fields(*this, other, kCallFields);
}

void RequestSums::combine(const RequestSums& other) {
  add_fields(*this, other, kRequestFields);
}

void IoSums::combine(const IoSums& other) {
  calls.combine(other.calls);
  to_storage.combine(other.to_storage);
  from_storage.combine(other.from_storage);
}

void IoTimes::combine(const IoTimes& other) {
  for (std::size_t i = 0; i < kIoTimes; ++i) {
    fabric::keep_least(least[i], other.least[i]);
    fabric::keep_greatest(greatest[i], other.greatest[i]);
    fabric::add(sum[i], other.sum[i]);
  }
}

Error add_up(fabric::Combining& ranks, IoSums& sums) {
  Error failed = ranks.combine(sums.calls);
  if (Error error = ranks.combine(sums.to_storage); !failed) failed = std::move(error);
  if (Error error = ranks.combine(sums.from_storage); !failed) failed = std::move(error);
  return failed;
}

Error add_up(fabric::Combining& ranks, IoTimes& times) {
  Error failed = combine_times<Least>(ranks, times.least);
  if (Error error = combine_times<Greatest>(ranks, times.greatest); !failed) {
    failed = std::move(error);
  }
  if (Error error = combine_times<Total>(ranks, times.sum); !failed) failed = std::move(error);
  return failed;
}

IoSums sums_of(const record::FileCounts& begin, const record::FileCounts& now) {
  using Counts = record::FileCounts;
  const auto since = [&](std::int64_t Counts::* field) { return now.*field - begin.*field; };
  IoSums sums;
  sums.calls.reads = since(&Counts::reads);
  sums.calls.writes = since(&Counts::writes);
  sums.calls.collective_reads = since(&Counts::collective_reads);
  sums.calls.collective_writes = since(&Counts::collective_writes);
  sums.calls.read = since(&Counts::read);
  sums.calls.written = since(&Counts::written);
  sums.from_storage = requests_since(begin.read_requests, now.read_requests);
  sums.from_storage.bytes = since(&Counts::store_read);
  sums.to_storage = requests_since(begin.write_requests, now.write_requests);
  sums.to_storage.bytes = since(&Counts::store_written);
  sums.to_storage.gaps = since(&Counts::gaps);
  sums.to_storage.gap_bytes = since(&Counts::gap_bytes);
  const bool is_active = sums.from_storage.requests + sums.to_storage.requests > 0;
  sums.calls.active_ranks = is_active ? 1 : 0;
  return sums;
}

OwnTimes times_of(const record::FileCounts& begin, const record::FileCounts& now, double tick) {
  using Counts = record::FileCounts;
  const auto since = [&](std::int64_t Counts::* field) {
    return static_cast<std::int64_t>(static_cast<double>(now.*field - begin.*field) * tick);
  };
  OwnTimes times{};
  times[in_calls] = since(&Counts::ticks);
  times[opening] = since(&Counts::open);
  times[closing] = since(&Counts::close);
  times[meeting] = since(&Counts::meet);
  times[sending] = since(&Counts::send);
  times[exchanging] = since(&Counts::exchange) - times[meeting] - times[sending];
  times[waiting] = since(&Counts::wait);
  times[copying] = since(&Counts::copy);
  times[reading] = since(&Counts::reading);
  times[writing] = since(&Counts::store) - times[reading];
  for (std::int64_t& one : times) one = one < 0 ? 0 : one;  // rounded
  return times;
}

void LoneSums::combine(const LoneSums& other) {
  if (other.ranks == 0) return;
  IoTimes all = other.times;
  if (ranks > 0) all.combine(times);
  times = all;
  fabric::add(ranks, other.ranks);
  fabric::add(files, other.files);
  sums.combine(other.sums);
}

}  // namespace headrace::file
