#pragma once

#include <memory>
#include <span>

#include "file/io_statistics.h"
#include "record/file_counts.h"
#include "storage/forwarding_store.h"

namespace headrace::file {

/// Another store, whose bytes are counted, and whose time if a collective call makes them. It is
/// there only if somebody wants to know.
class RecordedStore : public storage::ForwardingStore {
 public:
  RecordedStore(std::unique_ptr<storage::Store> inner, record::FileCounts& counts)
      : ForwardingStore(std::move(inner)), counts_(counts) {}

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override;
  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override;
  Result<std::unique_ptr<Store>> reopen_to_read() override;
  Error lock(FileOffset begin, FileOffset end, storage::LockMode mode) override;

 private:
  record::FileCounts& counts_;
};

}  // namespace headrace::file
