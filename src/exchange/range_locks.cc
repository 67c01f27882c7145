#include "exchange/range_locks.h"

#include <sched.h>

#include <cassert>

namespace headrace::exchange {

/// A spin lock on the table, held for some hundred nanoseconds. Its holder may lose the core
/// meanwhile, so a waiting thread yields its own core after a few spins.
class RangeLocks::Guard {
 public:
  explicit Guard(RangeLocks& locks) : locks_(locks) {
    constexpr int kSpins = 100;
    for (int spin = 0; locks_.guard_.exchange(1, std::memory_order_acquire) != 0; ++spin) {
      if (spin >= kSpins) sched_yield();
    }
  }
  ~Guard() { locks_.guard_.store(0, std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  RangeLocks& locks_;
};

int RangeLocks::lock(const fabric::Waiter& waiter, FileOffset begin, FileOffset end, Mode mode) {
  assert(0 <= begin && begin < end);
  int place = enter(begin, end, mode);
  if (place < 0) {
    event_.wait(waiter, [&] { return (place = enter(begin, end, mode)) >= 0; });
  }
  event_.wait(waiter, [&] { return is_first(place); });
  return place;
}

void RangeLocks::unlock(int place) {
  assert(0 <= place && place < kMaxLocks);
  {
    const Guard guard(*this);
    entries_[static_cast<std::size_t>(place)].ticket = 0;
  }
  event_.signal();
}

/// Takes a free place and the next ticket; -1 if there is no free place.
int RangeLocks::enter(FileOffset begin, FileOffset end, Mode mode) {
  const Guard guard(*this);
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    if (entries_[place].ticket != 0) continue;
    entries_[place] = {++last_ticket_, begin, end, mode};
    return static_cast<int>(place);
  }
  return -1;
}

bool RangeLocks::is_first(int place) {
  const Guard guard(*this);
  const Entry& mine = entries_[static_cast<std::size_t>(place)];
  for (const Entry& other : entries_) {
    if (other.ticket == 0 || other.ticket >= mine.ticket) continue;
    if (other.begin >= mine.end || other.end <= mine.begin) continue;
    if (other.mode == Mode::exclusive || mine.mode == Mode::exclusive) return false;
  }
  return true;
}

}  // namespace headrace::exchange
