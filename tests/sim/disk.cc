#include "sim/disk.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>

#include "sim/random.h"

namespace headrace::sim {

using storage::Transferred;

class DiskStore : public storage::Store {
 public:
  DiskStore(Disk& disk, int rank, std::string path, std::shared_ptr<Inode> inode,
            storage::OpenFlags flags)
      : disk_(disk), rank_(rank), path_(std::move(path)), inode_(std::move(inode)), flags_(flags) {}
  ~DiskStore() override {
    const std::lock_guard guard(inode_->mutex);
    set_lock(0, std::numeric_limits<FileOffset>::max(), storage::LockMode::none);
  }

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    if (!flags_.read) return {0, EBADF};
    return move(Operation::read, offset, segments);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    if (!flags_.write) return {0, EBADF};
    ByteCount bytes = 0;
    for (const iovec& segment : segments) bytes += static_cast<ByteCount>(segment.iov_len);
    disk_.note({rank_, true, offset, offset + bytes});
    note_lock();
    const storage::WriteTurn::Held held(turn_, bytes);
    return move(Operation::write, offset, segments);
  }
  Result<ByteCount> size() override {
    if (Error error = disk_.fail_whole(Operation::size, rank_, "size")) return error;
    const std::lock_guard lock(inode_->mutex);
    return inode_->content.size();
  }
  Error resize(ByteCount size) override {
    if (Error error = disk_.fail_whole(Operation::resize, rank_, "resize")) return error;
    const std::lock_guard lock(inode_->mutex);
    inode_->content.resize(size);
    return {};
  }
  Error allocate(ByteCount size, ByteCount) override {
    if (Error error = disk_.fail_whole(Operation::allocate, rank_, "allocate")) return error;
    const std::lock_guard lock(inode_->mutex);
    inode_->content.resize(std::max(inode_->content.size(), size));
    return {};
  }
  Error lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    if (Error error = disk_.fail_whole(Operation::lock, rank_, "lock")) return error;
    std::unique_lock guard(inode_->mutex);
    inode_->lock_left.wait(guard, [&] { return is_free(begin, end, mode); });
    set_lock(begin, end, mode);
    return {};
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    if (Error error = disk_.fail_whole(Operation::lock, rank_, "lock")) return error;
    const std::lock_guard guard(inode_->mutex);
    if (!is_free(begin, end, mode)) return false;
    set_lock(begin, end, mode);
    return true;
  }
  Error sync() override { return disk_.fail_whole(Operation::sync, rank_, "sync"); }
  Result<std::unique_ptr<storage::Store>> reopen_to_read() override {
    if (Error error = disk_.fail_whole(Operation::reopen, rank_, "open to read")) return error;
    return std::unique_ptr<storage::Store>(
        std::make_unique<DiskStore>(disk_, rank_, path_, inode_, storage::OpenFlags{.read = true}));
  }
  std::int64_t file_number() const override {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(inode_.get()));
  }
  storage::Layout layout() override {
    storage::Layout layout = disk_.layout_;
    layout.is_coherent = layout.is_coherent && rank_ != disk_.keeps_data_;
    return layout;
  }
  void take_turns(const storage::WriteTurn& turn) override {
    turn_ = turn;
    ++disk_.turn_takers_;
  }
  void lock_ahead(FileOffset begin, FileOffset end) override {
    disk_.note({rank_, false, begin, end});
  }
  Error close() override { return disk_.fail_whole(Operation::close, rank_, "close"); }
  Error remove() override {
    const std::string what = "cannot delete '" + path_ + "'";
    if (Error error = disk_.fail_whole(Operation::remove, rank_, what)) return error;
    const std::lock_guard lock(disk_.mutex_);
    const auto found = disk_.names_.find(path_);
    if (!flags_.is_deleted_later || found == disk_.names_.end() || found->second != inode_) {
      return system_failure(ENOENT, what);
    }
    disk_.names_.erase(found);
    return {};
  }

 private:
  void note_lock() {
    const std::lock_guard guard(inode_->mutex);
    const auto is_own = [this](const Inode::Lock& lock) { return lock.owner == this; };
    if (std::ranges::none_of(inode_->locks, is_own)) disk_.unlocked_writes_ += 1;
  }

  bool is_free(FileOffset begin, FileOffset end, storage::LockMode mode) const {
    using storage::LockMode;
    if (mode == LockMode::none || disk_.ignores_locks_) return true;
    return std::ranges::none_of(inode_->locks, [&](const Inode::Lock& lock) {
      return lock.owner != this && lock.begin < end && begin < lock.end &&
             (mode == LockMode::exclusive || lock.mode == LockMode::exclusive);
    });
  }

  /// As the system does: byte by byte the last call of an owner counts.
  void set_lock(FileOffset begin, FileOffset end, storage::LockMode mode) {
    std::vector<Inode::Lock> locks;
    for (const Inode::Lock& lock : inode_->locks) {
      if (lock.owner != this || lock.end <= begin || end <= lock.begin) {
        locks.push_back(lock);
        continue;
      }
      if (lock.begin < begin) locks.push_back({this, lock.begin, begin, lock.mode});
      if (end < lock.end) locks.push_back({this, end, lock.end, lock.mode});
    }
    if (mode != storage::LockMode::none) locks.push_back({this, begin, end, mode});
    inode_->locks = std::move(locks);
    inode_->lock_left.notify_all();
  }

  Transferred move(Operation operation, FileOffset offset, std::span<const iovec> segments) {
    if (offset < 0) return {0, EINVAL};
    ByteCount wanted = 0;
    for (const iovec& segment : segments) wanted += static_cast<ByteCount>(segment.iov_len);
    Transferred done;
    done.system_error = disk_.struck(operation, rank_, offset, wanted);
    disk_.delay();
    if (operation == Operation::write) disk_.hold_write(rank_);
    std::unique_lock lock(inode_->mutex);
    for (const iovec& segment : segments) {
      auto* memory = static_cast<std::uint8_t*>(segment.iov_base);
      std::span<std::uint8_t> rest(memory, segment.iov_len);
      rest = rest.first(
          static_cast<std::size_t>(std::min<ByteCount>(std::ssize(rest), wanted - done.bytes)));
      while (!rest.empty()) {
        const std::span<std::uint8_t> chunk = next_chunk(operation, offset + done.bytes, rest);
        if (chunk.empty()) return done;
        if (operation == Operation::write) {
          inode_->content.write(offset + done.bytes, chunk);
        } else {
          inode_->content.read(offset + done.bytes, chunk);
        }
        done.bytes += std::ssize(chunk);
        rest = rest.subspan(chunk.size());
        if (done.bytes < wanted && disk_.chunk_ > 0) disk_.let_others(lock);
      }
    }
    return done;
  }

  /// What is moved next: up to the end of a chunk, or of the file.
  std::span<std::uint8_t> next_chunk(Operation operation, FileOffset offset,
                                     std::span<std::uint8_t> rest) const {
    ByteCount len = std::ssize(rest);
    if (disk_.chunk_ > 0) len = std::min(len, disk_.chunk_ - offset % disk_.chunk_);
    if (operation == Operation::read) len = std::min(len, inode_->content.size() - offset);
    return rest.first(static_cast<std::size_t>(std::max<ByteCount>(0, len)));
  }

  Disk& disk_;
  int rank_;
  std::string path_;
  std::shared_ptr<Inode> inode_;
  storage::OpenFlags flags_;
  storage::WriteTurn turn_;
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
        std::make_unique<DiskStore>(disk_, rank_, path, found->second, flags));
  }

 private:
  Disk& disk_;
  int rank_;
};

std::unique_ptr<storage::FileSystem> Disk::file_system(int rank) {
  return std::make_unique<DiskFileSystem>(*this, rank);
}

void Disk::put(const std::string& path, Bytes content) {
  Content sparse;
  sparse.write(0, content);
  put(path, std::move(sparse));
}

void Disk::put(const std::string& path, Content content) {
  auto inode = std::make_shared<Inode>();
  inode->content = std::move(content);
  const std::lock_guard lock(mutex_);
  names_[path] = std::move(inode);
}

std::optional<Bytes> Disk::content(const std::string& path) {
  const std::optional<Content> sparse = sparse_content(path);
  if (!sparse) return std::nullopt;
  Bytes bytes(static_cast<std::size_t>(sparse->size()));
  sparse->read(0, bytes);
  return bytes;
}

std::optional<Content> Disk::sparse_content(const std::string& path) {
  std::shared_ptr<Inode> inode;
  {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(path);
    if (found == names_.end()) return std::nullopt;
    inode = found->second;
  }
  const std::lock_guard lock(inode->mutex);
  return inode->content;
}

void Disk::note(const Event& event) {
  if (!is_watched_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
}

std::vector<Disk::Event> Disk::events() {
  const std::lock_guard lock(mutex_);
  return events_;
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

void Disk::hold_writes(int count, std::function<std::chrono::milliseconds(int rank)> longest) {
  const std::lock_guard lock(hold_mutex_);
  held_until_ = count;
  longest_hold_ = std::move(longest);
  holds_writes_ = true;
}

int Disk::most_writes() {
  const std::lock_guard lock(hold_mutex_);
  return most_writes_;
}

void Disk::hold_write(int rank) {
  if (!holds_writes_) return;
  std::unique_lock lock(hold_mutex_);
  most_writes_ = std::max(most_writes_, ++writes_);
  release_.wait_for(lock, longest_hold_(rank), [this] { return most_writes_ >= held_until_; });
  --writes_;
  release_.notify_all();
}

void Disk::delay() {
  if (delay_every_ == 0) return;
  const std::uint64_t now = clock_.fetch_add(1, std::memory_order_relaxed);
  const auto dice = random_byte(17, static_cast<std::int64_t>(now));
  if (dice % delay_every_ == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice));
}

void Disk::let_others(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  delay();
  std::this_thread::yield();
  lock.lock();
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
