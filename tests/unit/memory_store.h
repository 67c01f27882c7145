#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "unit/bare_store.h"

namespace headrace {

/// A file in memory that outlives its stores, and what goes wrong with it. Safe from several
/// threads.
struct MemoryFile {
  std::mutex mutex;  ///< guards what follows
  std::vector<std::uint8_t> content;
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  ByteCount space = -1;                   ///< bytes from here on cannot be written; -1: all can
  bool is_broken = false;                 ///< no read succeeds
  int write_error = 0;                    ///< of the next write alone
  std::function<void(Direction)> before;  ///< called before each transfer, without the mutex
};

class MemoryStore : public BareStore {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    if (file_->before) file_->before(Direction::read);
    const std::lock_guard lock(file_->mutex);
    file_->reads += 1;
    if (file_->is_broken) return {0, EIO};
    storage::Transferred done;
    for (const iovec& segment : segments) {
      const auto size = static_cast<ByteCount>(file_->content.size());
      const ByteCount bytes = std::clamp<ByteCount>(size - offset - done.bytes, 0,
                                                    static_cast<ByteCount>(segment.iov_len));
      if (bytes > 0) {
        std::memcpy(segment.iov_base, file_->content.data() + offset + done.bytes,
                    static_cast<std::size_t>(bytes));
      }
      done.bytes += bytes;
      if (bytes < static_cast<ByteCount>(segment.iov_len)) break;
    }
    return done;
  }

  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    if (file_->before) file_->before(Direction::write);
    const std::lock_guard lock(file_->mutex);
    file_->writes += 1;
    if (const int error = std::exchange(file_->write_error, 0)) return {0, error};
    storage::Transferred done;
    for (const iovec& segment : segments) {
      const FileOffset begin = offset + done.bytes;
      auto bytes = static_cast<ByteCount>(segment.iov_len);
      if (file_->space >= 0) bytes = std::clamp<ByteCount>(file_->space - begin, 0, bytes);
      const auto end = static_cast<std::size_t>(begin + bytes);
      if (bytes > 0 && file_->content.size() < end) file_->content.resize(end);
      std::memcpy(file_->content.data() + begin, segment.iov_base, static_cast<std::size_t>(bytes));
      done.bytes += bytes;
      if (bytes < static_cast<ByteCount>(segment.iov_len)) return {done.bytes, ENOSPC};
    }
    return done;
  }

  Result<ByteCount> size() override {
    const std::lock_guard lock(file_->mutex);
    return static_cast<ByteCount>(file_->content.size());
  }
  Error resize(ByteCount size) override {
    const std::lock_guard lock(file_->mutex);
    file_->content.resize(static_cast<std::size_t>(size));
    return {};
  }

 private:
  std::shared_ptr<MemoryFile> file_;
};

}  // namespace headrace
