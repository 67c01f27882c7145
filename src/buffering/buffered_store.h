#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/process_mark.h"
#include "buffering/block_cache.h"
#include "buffering/buffer_plan.h"
#include "storage/forwarding_store.h"

namespace headrace::buffering {

/// A store with buffers for small calls, as Cray's IOBUF has them for one process. What other ranks
/// write is seen, and what this rank writes is seen by them, only after settle(), sync() or
/// close().
class BufferedStore : public storage::ForwardingStore {
 public:
  /// `name`: of the file, for messages.
  BufferedStore(std::unique_ptr<storage::Store> inner, const BufferShape& shape, std::string name);
  ~BufferedStore() override;

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return cache_->read(offset, segments);
  }
  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return cache_->write(offset, segments);
  }
  /// The store below the buffers. Lives as long as this one.
  storage::Store& unbuffered() { return inner(); }
  Error settle() override;

  Result<ByteCount> size() override;
  Error resize(ByteCount size) override;
  Error allocate(ByteCount size, ByteCount known) override;
  Error sync() override;
  Error close() override;
  Result<std::unique_ptr<Store>> reopen_to_read() override;

  bool is_verbose() const { return is_verbose_; }
  BufferCounts counts() const { return cache_->counts(); }

 private:
  Error error_of(int system_error) const;

  const std::string name_;
  const bool is_verbose_;
  const ProcessMark process_;
  std::shared_ptr<BlockCache> cache_;
};

/// Writes what the buffers of all open files hold back: for the end of MPI or of the program. Does
/// not wait for long. Tells what is lost, and returns how many bytes that is.
ByteCount settle_all() noexcept;

}  // namespace headrace::buffering
