#pragma once

#include <memory>
#include <span>
#include <utility>

#include "storage/store.h"

namespace headrace::storage {

/// A store around another, to which it hands on each call. Those that differ in some calls are made
/// of it.
class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {}

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return inner_->read(offset, segments);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return inner_->write(offset, segments);
  }
  Result<ByteCount> size() override { return inner_->size(); }
  Error resize(ByteCount size) override { return inner_->resize(size); }
  Error allocate(ByteCount size, ByteCount known) override { return inner_->allocate(size, known); }
  void look_again() override { inner_->look_again(); }
  Error sync() override { return inner_->sync(); }
  Error lock(FileOffset begin, FileOffset end, LockMode mode) override {
    return inner_->lock(begin, end, mode);
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) override {
    return inner_->try_lock(begin, end, mode);
  }
  Error close() override { return inner_->close(); }
  Error remove() override { return inner_->remove(); }
  Error settle() override { return inner_->settle(); }
  Result<std::unique_ptr<Store>> reopen_to_read() override { return inner_->reopen_to_read(); }
  std::int64_t file_number() const override { return inner_->file_number(); }
  std::uint64_t device() const override { return inner_->device(); }
  Layout layout() override { return inner_->layout(); }
  bool is_coherent() override { return inner_->is_coherent(); }
  void take_turns(const WriteTurn& turn) override { inner_->take_turns(turn); }
  Choices choices() override { return inner_->choices(); }
  void lock_ahead(FileOffset begin, FileOffset end) override { inner_->lock_ahead(begin, end); }

 protected:
  Store& inner() { return *inner_; }

 private:
  std::unique_ptr<Store> inner_;
};

}  // namespace headrace::storage
