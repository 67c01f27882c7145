#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

/// Where the number of this process lies. A forked child finds 0 there, however it was made, until
/// it makes a mark.
extern std::atomic<std::atomic<std::uint32_t>*> process_number;

/// 0 if it has made no mark. Takes no time, and may be called anywhere.
inline std::uint32_t number_of_process() noexcept {
  return process_number.load(std::memory_order_relaxed)->load(std::memory_order_relaxed);
}

/// Tells whether the process that made the mark is the one that asks. A forked child lacks its
/// parent's other threads, and locks that they held stay locked: the child must leave alone what
/// those threads share.
class ProcessMark {
 public:
  ProcessMark();
  bool is_here() const { return number_ == number_of_process(); }
  std::uint32_t number() const { return number_; }

 private:
  std::uint32_t number_;
};

}  // namespace headrace
