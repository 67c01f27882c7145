#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/types.h"
#include "storage/choices.h"
#include "storage/file_layout.h"
#include "storage/open_flags.h"
#include "storage/write_turn.h"

namespace headrace::storage {

/// The result of a read or write: the bytes moved, in order from the start of the request, and the
/// errno that stopped it (0 for none). A read that ends early without an error met the end of the
/// file.
struct Transferred {
  ByteCount bytes = 0;
  int system_error = 0;
  int repeats = 0;  ///< system calls that were made again, after interrupted or short ones
};

/// The bytes of all segments.
inline ByteCount bytes_of(std::span<const iovec> segments) {
  ByteCount bytes = 0;
  for (const iovec& segment : segments) bytes += static_cast<ByteCount>(segment.iov_len);
  return bytes;
}

enum class LockMode { none, shared, exclusive };

/// One open file. One rank makes each call alone. Safe from several threads.
class Store {
 public:
  virtual ~Store() = default;  ///< closes, ignoring errors; call close() to learn of them

  /// Moves the segments' bytes from or to one contiguous range of the file that begins at `offset`.
  /// Goes on after short transfers and interruptions until all is moved, the file ends, or an error
  /// stops it.
  virtual Transferred read(FileOffset offset, std::span<const iovec> segments) = 0;
  virtual Transferred write(FileOffset offset, std::span<const iovec> segments) = 0;

  virtual Result<ByteCount> size() = 0;
  virtual Error resize(ByteCount size) = 0;
  /// Ensures storage for [0, size); without support in the file system, holes below the present end
  /// remain. The file grows to at least that size and keeps its contents. `known`: its size as far
  /// as other nodes know it; this one may not yet.
  virtual Error allocate(ByteCount size, ByteCount known) = 0;
  virtual Error sync() = 0;
  /// Waits for a lock on [begin, end) that processes on all nodes respect, or gives it up (`none`).
  /// Threads of one process share their locks. Fails if the file system has no locks.
  virtual Error lock(FileOffset begin, FileOffset end, LockMode mode) = 0;
  /// The same without waiting: false if another process has a conflicting lock.
  virtual Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) = 0;
  virtual Error close() = 0;
  /// Deletes the name by which the file was opened, whatever the program's working directory is
  /// now. Call after close(), for files opened with OpenFlags::is_deleted_later. Fails if the name
  /// belongs to another file by now (ErrorClass::no_such_file).
  virtual Error remove() = 0;
  /// Ends what a buffer keeps to itself: writes what it holds back, and forgets what it has read,
  /// so that neither lasts longer than this call. For a store with buffers; what it cannot write
  /// then is lost, and its error is returned.
  virtual Error settle() { return {}; }
  /// Finds what other nodes have written, where a file system looks for that only when a file is
  /// opened. What fails is not told.
  virtual void look_again() {}
  /// Opens the same file again for reading, whatever has become of its name, so that network file
  /// systems do what they do at an open. ErrorClass::unsupported_operation if reading does not
  /// return what was written, as with devices.
  virtual Result<std::unique_ptr<Store>> reopen_to_read();

  /// The file's inode number; 0: unknown.
  virtual std::int64_t file_number() const { return 0; }
  /// The device number of its file system, as stat(2) tells it; 0: unknown.
  virtual std::uint64_t device() const { return 0; }
  /// The file's layout; what is unknown is left out.
  virtual Layout layout() { return {}; }
  /// Whether reads on this node see at once what other nodes have written.
  virtual bool is_coherent() { return layout().is_coherent; }
  /// From now on, writes in turn with other ranks. Call before several threads use the store.
  virtual void take_turns(const WriteTurn&) {}
  /// Which optional things it did so far. May be called after close().
  virtual Choices choices() { return {}; }
  /// Requests the file system's locks for writing [begin, end) before they are needed, without
  /// waiting. For file systems with has_lock_ahead().
  virtual void lock_ahead(FileOffset, FileOffset) {}
};

/// A file system, from which files are opened.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<Store>> open(const std::string& path, OpenFlags flags) = 0;
  /// The name for messages, valid at any later time, of a file opened as `path`.
  virtual std::string full_name(const std::string& path) { return path; }
};

/// Deletes a file or a symbolic link by its name.
Error remove_file(const std::string& path);

/// The file system as the operating system shows it. Lives as long as the process.
FileSystem& posix_file_system();

}  // namespace headrace::storage
