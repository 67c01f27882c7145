#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/types.h"
#include "fabric/event.h"

namespace headrace::exchange {

/// Locks on ranges of a file, among all threads of the processes that see this memory, which is
/// zeroed when new. First come, first served: a lock waits only for conflicting locks that were
/// requested earlier. So no thread waits for ever; and as a thread holds one lock at a time, there
/// is no deadlock.
class RangeLocks {
 public:
  enum class Mode : std::int32_t { shared, exclusive };

  /// Waits for the lock on [begin, end), bytes of the file, and returns its place, for unlock().
  int lock(const fabric::Waiter& waiter, FileOffset begin, FileOffset end, Mode mode);
  void unlock(int place);

  /// At most so many locks are held or waited for; further callers wait for a place.
  static constexpr int kMaxLocks = 128;

 private:
  struct Entry {
    std::uint64_t ticket;  ///< 0: free
    FileOffset begin;
    FileOffset end;
    Mode mode;
  };

  class Guard;
  int enter(FileOffset begin, FileOffset end, Mode mode);
  bool is_first(int place);

  fabric::Event event_;
  std::atomic<std::uint32_t> guard_;  ///< 1 while a thread reads or changes what follows
  std::uint64_t last_ticket_;
  std::array<Entry, kMaxLocks> entries_;
};

}  // namespace headrace::exchange
