#pragma once

#include <memory>
#include <span>

#include "file/io_statistics.h"
#include "record/file_counts.h"
#include "storage/store.h"

namespace headrace::file {

/// Another store, whose bytes are counted, and whose time if a collective call makes them. It is
/// there only if somebody wants to know. `requests`: null if nobody asks for these.
class RecordedStore : public storage::Store {
 public:
  RecordedStore(std::unique_ptr<storage::Store> inner, record::FileCounts& counts,
                StoreRequests* requests)
      : inner_(std::move(inner)), counts_(counts), requests_(requests) {}

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override;
  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override;
  Result<std::unique_ptr<Store>> reopen_to_read() override;

  Result<ByteCount> size() override { return inner_->size(); }
  Error resize(ByteCount size) override { return inner_->resize(size); }
  Error allocate(ByteCount size) override { return inner_->allocate(size); }
  Error sync() override { return inner_->sync(); }
  Error lock(FileOffset begin, FileOffset end, storage::LockMode mode) override;
  Result<bool> try_lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    return inner_->try_lock(begin, end, mode);
  }
  Error close() override { return inner_->close(); }
  Error remove() override { return inner_->remove(); }
  std::int64_t file_number() const override { return inner_->file_number(); }
  std::uint64_t device() const override { return inner_->device(); }
  storage::Layout layout() override { return inner_->layout(); }
  bool is_coherent() override { return inner_->is_coherent(); }
  void take_turns(const storage::WriteTurn& turn) override { inner_->take_turns(turn); }
  storage::Choices choices() override { return inner_->choices(); }
  void lock_ahead(FileOffset begin, FileOffset end) override { inner_->lock_ahead(begin, end); }

 private:
  std::unique_ptr<storage::Store> inner_;
  record::FileCounts& counts_;
  StoreRequests* requests_;
};

}  // namespace headrace::file
