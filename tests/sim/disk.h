#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace headrace::sim {

using Bytes = std::vector<std::uint8_t>;

enum class Operation { open, read, write, size, resize, allocate, sync, close, remove };

/// What goes wrong from Disk::arm() to Disk::disarm().
struct Fault {
  Operation operation = Operation::write;
  int system_error = 0;
  int rank = -1;               ///< only this rank's operations; -1 for all
  std::int64_t nth = -1;       ///< this operation alone fails, counted from 0; -1 for every one
  FileOffset beyond = -1;      ///< bytes from here on cannot be moved; -1 for no limit
  ByteCount moved_before = 0;  ///< bytes that an operation moves before it fails
};

/// A file's bytes. Lives on while it is open, also without a name.
struct Inode {
  std::mutex mutex;
  Bytes bytes;
};

/// A disk in memory for the ranks of one job: right, or wrong in the way it is told.
class Disk {
 public:
  /// Every `delay_every`-th operation or so is slow; 0 for none.
  explicit Disk(int delay_every) : delay_every_(delay_every) {}

  /// The disk as `rank` sees it. Lives as long as the disk.
  std::unique_ptr<storage::FileSystem> file_system(int rank);

  void put(const std::string& path, Bytes content);
  std::optional<Bytes> content(const std::string& path);

  void arm(const Fault& fault);
  /// Returns how many operations failed since arm().
  std::int64_t disarm();

 private:
  friend class DiskFileSystem;
  friend class DiskStore;

  void delay();
  /// The fault that strikes this operation on [offset, offset + len), if any. `len` becomes what is
  /// moved before it does.
  int struck(Operation operation, int rank, FileOffset offset, ByteCount& len);
  Error fail_whole(Operation operation, int rank, const std::string& what);

  int delay_every_;
  std::atomic<std::uint64_t> clock_{0};
  std::mutex mutex_;  ///< guards what follows
  std::map<std::string, std::shared_ptr<Inode>> names_;
  std::optional<Fault> fault_;
  std::int64_t seen_ = 0;
  std::int64_t failed_ = 0;
};

}  // namespace headrace::sim
