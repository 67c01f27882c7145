#pragma once

#include <atomic>

#include "base/blocked_signals.h"
#include "base/pause.h"

namespace headrace::record {

/// One thread adds to a table while this lives, if no other one does. Signals wait for it, but
/// those that a thread causes itself: their handlers add to such tables, too, and one that jumped
/// out of this for good (siglongjmp) would leave the table locked, and half of what was added.
class Adding {
 public:
  explicit Adding(std::atomic_flag& is_adding) noexcept : flag_(&is_adding) {
    for (int tries = 0; flag_->test_and_set(std::memory_order_acquire); ++tries) {
      if (tries == kTries) {
        flag_ = nullptr;
        return;
      }
      pause_spinning();
    }
  }
  ~Adding() {
    if (flag_ != nullptr) flag_->clear(std::memory_order_release);
  }
  Adding(const Adding&) = delete;
  Adding& operator=(const Adding&) = delete;

  explicit operator bool() const { return flag_ != nullptr; }

 private:
  /// How often a thread looks whether another one has finished.
  static constexpr int kTries = 1000;

  const BlockedSignals blocked_;
  std::atomic_flag* flag_;
};

}  // namespace headrace::record
