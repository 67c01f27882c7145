#include "count/counters.h"

namespace headrace::count {
namespace {

constexpr std::array<const char*, kCounterNumber> kNames = {
    "store_reads", "store_writes", "store_others",  "bytes_read", "bytes_written", "segments",
    "posts",       "messages",     "message_bytes", "copies",     "bytes_copied",  "sleeps"};

std::array<std::atomic<std::int64_t>, kCounterNumber> counters;

}  // namespace

const char* name_of(Counter counter) {
  return kNames[counter];
}

void add(Counter counter, std::int64_t number) {
  counters[counter].fetch_add(number, std::memory_order_relaxed);
}

Counts counts_now() {
  Counts counts;
  for (std::size_t i = 0; i < kCounterNumber; ++i) counts[i] = counters[i].load();
  return counts;
}

}  // namespace headrace::count
