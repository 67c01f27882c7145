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

/// What a read or write did: the bytes moved, in order from the start of the request, and the errno
/// that stopped it (0 for none). A read that ends early without an error met the end of the file.
struct Transferred {
  ByteCount bytes = 0;
  int system_error = 0;
};

enum class LockMode { none, shared, exclusive };

/// One open file. Every call is made by one rank alone and is safe from several threads.
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
  /// Ensures storage for [0, size), holes below the present end excepted where the file system has
  /// no call for it. The file grows to at least that size and keeps its contents.
  virtual Error allocate(ByteCount size) = 0;
  virtual Error sync() = 0;
  /// Waits for a lock on [begin, end) that processes of all nodes obey, or gives it up (`none`).
  /// Threads of one process share their locks. Fails where the file system has no locks.
  virtual Error lock(FileOffset begin, FileOffset end, LockMode mode) = 0;
  /// The same without waiting: false where another has a lock that conflicts.
  virtual Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) = 0;
  virtual Error close() = 0;
  /// Deletes the name by which the file was opened, wherever the program's working directory and
  /// the name lead now. After close(), for files opened with OpenFlags::is_deleted_later. Not
  /// where the name is another file's by now (ErrorClass::no_such_file).
  virtual Error remove() = 0;
  /// The same file for reading, opened anew: whatever has become of its name, and with what network
  /// file systems do at an open. ErrorClass::unsupported_operation where reading it gives something
  /// else than what was written.
  virtual Result<std::unique_ptr<Store>> reopen_to_read();

  /// The file system's number of the file; 0: not known.
  virtual std::int64_t file_number() const { return 0; }
  /// How the file lies on its file system; what is not known is left out.
  virtual Layout layout() { return {}; }
  /// Whether reads on this node see at once what other nodes' writes have returned from.
  virtual bool is_coherent() { return layout().is_coherent; }
  /// Writes from now on in turn with other ranks. Before the first call of several threads.
  virtual void take_turns(const WriteTurn&) {}
  /// What it did of its own accord so far, also after close().
  virtual Choices choices() { return {}; }
  /// Asks for the file system's locks to write [begin, end) before they are needed, without waiting
  /// for them. For file systems that has_lock_ahead() knows.
  virtual void lock_ahead(FileOffset, FileOffset) {}
};

/// Where files live.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<Store>> open(const std::string& path, OpenFlags flags) = 0;
  /// What a file opened as `path` is called in messages, at any later time.
  virtual std::string full_name(const std::string& path) { return path; }
};

/// Deletes a file, or a symbolic link, by its name.
Error remove_file(const std::string& path);

/// The file system as the operating system shows it. Lives as long as the process.
FileSystem& posix_file_system();

}  // namespace headrace::storage
