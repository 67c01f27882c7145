#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "file/file.h"

namespace headrace::file {

/// A file's active split collective call, if any. Safe from several threads.
class SplitCall {
 public:
  /// Takes no lock.
  bool is_active() const { return is_active_.load(std::memory_order_relaxed); }
  void begin(const TransferCall& call, std::shared_ptr<Operation> operation);
  /// Ends the active call and returns its operation. An error if the ending procedure does not
  /// match the one that began it. `path` is for messages.
  Result<std::shared_ptr<Operation>> end(Direction direction, bool shared, bool has_offset,
                                         const std::string& path) noexcept;

 private:
  std::atomic<bool> is_active_ = false;

  std::mutex mutex_;  ///< guards what follows
  Direction direction_ = Direction::write;
  bool shared_ = false;
  bool has_offset_ = false;
  std::shared_ptr<Operation> operation_;
};

}  // namespace headrace::file
