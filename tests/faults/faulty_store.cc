#include "faults/faulty_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "faults/injector.h"

namespace headrace::faults {
namespace {

using storage::bytes_of;
using storage::LockMode;
using storage::Transferred;

std::optional<Strike> strike(Operation operation, int rank, ByteCount len = 0) {
  return Injector::instance().strike(operation, rank, len);
}

std::vector<iovec> first(std::span<const iovec> segments, ByteCount bytes) {
  std::vector<iovec> part;
  for (iovec segment : segments) {
    segment.iov_len = std::min(segment.iov_len, static_cast<std::size_t>(bytes));
    bytes -= static_cast<ByteCount>(segment.iov_len);
    part.push_back(segment);
  }
  return part;
}

class FaultyStore : public storage::Store {
 public:
  FaultyStore(std::unique_ptr<storage::Store> store, int rank)
      : store_(std::move(store)), rank_(rank) {}

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return move(Operation::read, offset, segments);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return move(Operation::write, offset, segments);
  }
  Result<ByteCount> size() override {
    const OutsideEngine outside;
    if (const auto struck = strike(Operation::size, rank_)) {
      return system_failure(struck->system_error, "size");
    }
    return store_->size();
  }
  Error resize(ByteCount size) override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::resize);
    return failed ? failed : store_->resize(size);
  }
  Error allocate(ByteCount size, ByteCount known) override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::allocate);
    return failed ? failed : store_->allocate(size, known);
  }
  Error sync() override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::sync);
    return failed ? failed : store_->sync();
  }
  Error lock(FileOffset begin, FileOffset end, LockMode mode) override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::lock);
    // A lock is given up on this node, whatever the server says.
    if (!failed || mode == LockMode::none) {
      if (Error error = store_->lock(begin, end, mode)) return error;
    }
    return failed;
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) override {
    const OutsideEngine outside;
    if (Error failed = struck_whole(Operation::lock)) return failed;
    return store_->try_lock(begin, end, mode);
  }
  Error close() override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::close);
    Error error = store_->close();
    return failed ? failed : error;
  }
  Error remove() override {
    const OutsideEngine outside;
    const Error failed = struck_whole(Operation::remove);
    return failed ? failed : store_->remove();
  }

 private:
  Error struck_whole(Operation operation) {
    const auto struck = strike(operation, rank_);
    return struck ? system_failure(struck->system_error, name_of(operation)) : Error{};
  }

  Transferred move(Operation operation, FileOffset offset, std::span<const iovec> segments) {
    const OutsideEngine outside;
    const auto move_bytes = [&](std::span<const iovec> list) {
      return operation == Operation::read ? store_->read(offset, list)
                                          : store_->write(offset, list);
    };
    const auto struck = strike(operation, rank_, bytes_of(segments));
    if (!struck) return move_bytes(segments);
    Transferred done;
    if (struck->bytes > 0) done = move_bytes(first(segments, struck->bytes));
    done.system_error = struck->system_error;
    return done;
  }

  std::unique_ptr<storage::Store> store_;
  int rank_;
};

}  // namespace

Result<std::unique_ptr<storage::Store>> FaultyFileSystem::open(const std::string& path,
                                                               storage::OpenFlags flags) {
  const OutsideEngine outside;
  if (const auto struck = strike(Operation::open, rank_)) {
    return system_failure(struck->system_error, "open");
  }
  auto opened = files_->open(path, flags);
  if (!opened) return opened;
  return std::unique_ptr<storage::Store>(
      std::make_unique<FaultyStore>(std::move(opened.value()), rank_));
}

}  // namespace headrace::faults
