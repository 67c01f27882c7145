#pragma once

#include <cstdint>
#include <mutex>

#include "base/process_mark.h"
#include "base/result.h"
#include "exchange/shared_pointer_home.h"

namespace headrace::exchange {

/// Moves the shared pointers of this rank's team that lie on another node, the home. Connects at
/// its first use and keeps the connection. Safe from several threads.
class SharedPointerClient {
 public:
  SharedPointerClient(const SharedPointerHome& home, int rank) : home_(home), rank_(rank) {}

  /// Like exchange::advance on the pointer's cell. Waits for the home's thread only, at most about
  /// two minutes. If the home cannot be reached, calls fail at once for half a minute; then the
  /// next call tries again.
  Result<std::int64_t> advance(int channel, int cell, std::int64_t etypes);

 private:
  /// Errors: ECONNRESET if the connection was lost, ETIMEDOUT if no answer came.
  Result<PointerAnswer> ask(const PointerQuestion& question) const;
  Result<std::int64_t> ask_until_answered(const PointerQuestion& question);
  Error unreachable(const std::string& why) const;

  const SharedPointerHome home_;
  const int rank_;
  const ProcessMark process_;

  std::mutex mutex_;  ///< guards what follows; held during a question
  Socket connection_;
  Secret challenge_{};  ///< of the connection
  bool was_reached_ = false;
  std::uint64_t sequence_ = 0;
  Error failure_;  ///< the error of the last try to reach the home
  Clock::time_point try_again_;
};

}  // namespace headrace::exchange
