#include "sim/disk.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "sim/random.h"

namespace headrace::sim {

using storage::Transferred;

class DiskStore : public storage::Store {
 public:
  DiskStore(Disk& disk, int rank, std::shared_ptr<Inode> inode, storage::OpenFlags flags)
      : disk_(disk), rank_(rank), inode_(std::move(inode)), flags_(flags) {}

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    if (!flags_.read) return {0, EBADF};
    return move(Operation::read, offset, segments);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    if (!flags_.write) return {0, EBADF};
    return move(Operation::write, offset, segments);
  }
  Result<ByteCount> size() override {
    if (Error error = disk_.fail_whole(Operation::size, rank_, "size")) return error;
    const std::lock_guard lock(inode_->mutex);
    return static_cast<ByteCount>(inode_->bytes.size());
  }
  Error resize(ByteCount size) override {
    if (Error error = disk_.fail_whole(Operation::resize, rank_, "resize")) return error;
    const std::lock_guard lock(inode_->mutex);
    inode_->bytes.resize(static_cast<std::size_t>(size));
    return {};
  }
  Error allocate(ByteCount size) override {
    if (Error error = disk_.fail_whole(Operation::allocate, rank_, "allocate")) return error;
    const std::lock_guard lock(inode_->mutex);
    inode_->bytes.resize(std::max(inode_->bytes.size(), static_cast<std::size_t>(size)));
    return {};
  }
  Error lock(FileOffset, FileOffset, storage::LockMode) override { return {}; }
  Error sync() override { return disk_.fail_whole(Operation::sync, rank_, "sync"); }
  Error close() override { return disk_.fail_whole(Operation::close, rank_, "close"); }

 private:
  Transferred move(Operation operation, FileOffset offset, std::span<const iovec> segments) {
    if (offset < 0) return {0, EINVAL};
    ByteCount wanted = 0;
    for (const iovec& segment : segments) wanted += static_cast<ByteCount>(segment.iov_len);
    Transferred done;
    done.system_error = disk_.struck(operation, rank_, offset, wanted);
    disk_.delay();
    const std::lock_guard lock(inode_->mutex);
    Bytes& bytes = inode_->bytes;
    if (operation == Operation::write && wanted > 0) {
      bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(offset + wanted)));
    }
    wanted = std::min(wanted, static_cast<ByteCount>(bytes.size()) - offset);
    for (const iovec& segment : segments) {
      const ByteCount len = std::min(static_cast<ByteCount>(segment.iov_len), wanted - done.bytes);
      if (len <= 0) break;
      std::uint8_t* const place = bytes.data() + offset + done.bytes;
      if (operation == Operation::write) {
        std::memcpy(place, segment.iov_base, static_cast<std::size_t>(len));
      } else {
        std::memcpy(segment.iov_base, place, static_cast<std::size_t>(len));
      }
      done.bytes += len;
    }
    return done;
  }

  Disk& disk_;
  int rank_;
  std::shared_ptr<Inode> inode_;
  storage::OpenFlags flags_;
};

class DiskFileSystem : public storage::FileSystem {
 public:
  DiskFileSystem(Disk& disk, int rank) : disk_(disk), rank_(rank) {}

  Result<std::unique_ptr<storage::Store>> open(const std::string& path,
                                               storage::OpenFlags flags) override {
    const std::string what = "cannot open '" + path + "'";
    if (Error error = disk_.fail_whole(Operation::open, rank_, what)) return error;
    const std::lock_guard lock(disk_.mutex_);
    auto found = disk_.names_.find(path);
    if (found == disk_.names_.end()) {
      if (!flags.create) return system_failure(ENOENT, what);
      found = disk_.names_.emplace(path, std::make_shared<Inode>()).first;
    } else if (flags.exclusive) {
      return system_failure(EEXIST, what);
    }
    return std::unique_ptr<storage::Store>(
        std::make_unique<DiskStore>(disk_, rank_, found->second, flags));
  }

  Error remove(const std::string& path) override {
    const std::string what = "cannot delete '" + path + "'";
    if (Error error = disk_.fail_whole(Operation::remove, rank_, what)) return error;
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.names_.erase(path) == 0) return system_failure(ENOENT, what);
    return {};
  }

 private:
  Disk& disk_;
  int rank_;
};

std::unique_ptr<storage::FileSystem> Disk::file_system(int rank) {
  return std::make_unique<DiskFileSystem>(*this, rank);
}

void Disk::put(const std::string& path, Bytes content) {
  auto inode = std::make_shared<Inode>();
  inode->bytes = std::move(content);
  const std::lock_guard lock(mutex_);
  names_[path] = std::move(inode);
}

std::optional<Bytes> Disk::content(const std::string& path) {
  std::shared_ptr<Inode> inode;
  {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(path);
    if (found == names_.end()) return std::nullopt;
    inode = found->second;
  }
  const std::lock_guard lock(inode->mutex);
  return inode->bytes;
}

void Disk::arm(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  seen_ = 0;
  failed_ = 0;
}

std::int64_t Disk::disarm() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
  return failed_;
}

void Disk::delay() {
  if (delay_every_ == 0) return;
  const std::uint64_t now = clock_.fetch_add(1, std::memory_order_relaxed);
  const auto dice = random_byte(17, static_cast<std::int64_t>(now));
  if (dice % delay_every_ == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice));
}

int Disk::struck(Operation operation, int rank, FileOffset offset, ByteCount& len) {
  const std::lock_guard lock(mutex_);
  if (!fault_ || fault_->operation != operation) return 0;
  if (fault_->rank >= 0 && fault_->rank != rank) return 0;
  if (fault_->nth >= 0 && seen_++ != fault_->nth) return 0;
  if (fault_->beyond >= 0) {
    if (offset + len <= fault_->beyond) return 0;
    len = std::clamp<ByteCount>(fault_->beyond - offset, 0, len);
  } else {
    // At least one byte is missing after a failure.
    len = std::clamp<ByteCount>(fault_->moved_before, 0, std::max<ByteCount>(0, len - 1));
  }
  failed_ += 1;
  return fault_->system_error;
}

Error Disk::fail_whole(Operation operation, int rank, const std::string& what) {
  ByteCount none = 0;
  delay();
  const int reason = struck(operation, rank, 0, none);
  return reason == 0 ? Error{} : system_failure(reason, what);
}

}  // namespace headrace::sim
