#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sim/content.h"
#include "storage/store.h"

namespace headrace::sim {

using Bytes = std::vector<std::uint8_t>;

enum class Operation {
  open,
  reopen,
  read,
  write,
  size,
  resize,
  allocate,
  sync,
  close,
  remove,
  lock
};

/// What goes wrong from Disk::arm() to Disk::disarm().
struct Fault {
  Operation operation = Operation::write;
  int system_error = 0;
  int rank = -1;               ///< only this rank's operations; -1 for all
  std::int64_t nth = -1;       ///< this operation alone fails, counted from 0; -1 for every one
  FileOffset beyond = -1;      ///< bytes from here on cannot be moved; -1 for no limit
  ByteCount moved_before = 0;  ///< bytes that an operation moves before it fails
};

/// A file's bytes and locks. Lives on while it is open, also without a name.
struct Inode {
  struct Lock {
    const void* owner;  ///< the open store
    FileOffset begin;
    FileOffset end;
    storage::LockMode mode;
  };

  std::mutex mutex;
  Content content;
  std::vector<Lock> locks;
  std::condition_variable lock_left;
};

/// A disk in memory for the ranks of one job: right, or wrong in the way it is told.
class Disk {
 public:
  /// Every `delay_every`-th operation or so is slow; 0 for none. Others may see a file between two
  /// chunks of a transfer; 0 for one chunk.
  explicit Disk(int delay_every, ByteCount chunk = 0) : delay_every_(delay_every), chunk_(chunk) {}

  /// The disk as `rank` sees it. Lives as long as the disk.
  std::unique_ptr<storage::FileSystem> file_system(int rank);

  /// From now on every lock is granted, as on file systems that keep locks to one node.
  void ignore_locks() { ignores_locks_ = true; }

  /// From now on files lie on the disk as this says.
  void pretend(const storage::Layout& layout) { layout_ = layout; }
  /// From now on the client of `rank` keeps data, so that it may not see what others write.
  void keep_data_on(int rank) { keeps_data_ = rank; }

  void put(const std::string& path, Bytes content);
  void put(const std::string& path, Content content);
  /// A write, or a request for the locks to write, from watch() on.
  struct Event {
    int rank = 0;
    bool is_write = false;
    FileOffset begin = 0;
    FileOffset end = 0;
  };
  void watch() { is_watched_ = true; }
  /// From now on each write waits until `count` have been under way at a time, or as long as its
  /// rank may.
  void hold_writes(int count, std::function<std::chrono::milliseconds(int rank)> longest);
  /// The most that were under way at a time since then.
  int most_writes();
  std::vector<Event> events();
  /// Writes by stores that had no lock on the file then.
  int unlocked_writes() const { return unlocked_writes_; }
  /// Open files whose ranks write in turn.
  int turn_takers() const { return turn_takers_; }

  std::optional<Bytes> content(const std::string& path);
  std::optional<Content> sparse_content(const std::string& path);

  void arm(const Fault& fault);
  /// Returns how many operations failed since arm().
  std::int64_t disarm();

 private:
  friend class DiskFileSystem;
  friend class DiskStore;

  void delay();
  void note(const Event& event);
  void hold_write(int rank);
  /// Lets other transfers of a file happen in between.
  void let_others(std::unique_lock<std::mutex>& lock);
  /// The fault that strikes this operation on [offset, offset + len), if any. `len` becomes what is
  /// moved before it does.
  int struck(Operation operation, int rank, FileOffset offset, ByteCount& len);
  Error fail_whole(Operation operation, int rank, const std::string& what);

  int delay_every_;
  ByteCount chunk_;
  storage::Layout layout_{.is_coherent = true};
  int keeps_data_ = -1;  ///< a rank; -1: none does
  std::atomic<bool> ignores_locks_ = false;
  std::atomic<bool> is_watched_ = false;
  std::atomic<int> turn_takers_ = 0;
  std::atomic<int> unlocked_writes_ = 0;
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<bool> holds_writes_ = false;
  std::mutex hold_mutex_;  ///< guards what follows of writes that are held
  std::condition_variable release_;
  int held_until_ = 0;  ///< so many are under way
  std::function<std::chrono::milliseconds(int)> longest_hold_;
  int writes_ = 0;
  int most_writes_ = 0;
  std::mutex mutex_;  ///< guards what follows
  std::map<std::string, std::shared_ptr<Inode>> names_;
  std::optional<Fault> fault_;
  std::int64_t seen_ = 0;
  std::int64_t failed_ = 0;
  std::vector<Event> events_;
};

}  // namespace headrace::sim
