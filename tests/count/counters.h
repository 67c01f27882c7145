#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headrace::count {

/// What is counted, of all ranks of a process together. The names in counters.cc are those of the
/// baseline.
enum Counter : std::size_t {
  kStoreReads,    ///< calls of Store::read
  kStoreWrites,   ///< calls of Store::write
  kStoreOthers,   ///< its other calls, and opening
  kBytesRead,     ///< from the store
  kBytesWritten,  ///< to the store
  kSegments,      ///< pieces of memory of the store's calls
  kPosts,         ///< rounds that ranks posted on boards of files
  kMessages,      ///< between ranks
  kMessageBytes,
  kCopies,       ///< runs of the file, and lists of pieces, that were copied
  kBytesCopied,  ///< in them
  kSleeps,       ///< futex(2) calls of threads that are watched
  kCounterNumber,
};

const char* name_of(Counter counter);

/// The numbers at one moment, or between two.
using Counts = std::array<std::int64_t, kCounterNumber>;

void add(Counter counter, std::int64_t number);
Counts counts_now();

/// Whether futex(2) calls of this thread are counted. How often ranks that meet sleep is chance.
void watch_sleeps(bool are_counted);

}  // namespace headrace::count
