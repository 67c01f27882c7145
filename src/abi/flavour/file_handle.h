#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "abi/flavour/job.h"
#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// What a file shares with its requests, which may outlive it.
struct FileLink {
  std::atomic<MPI_File> handle = MPI_FILE_NULL;  ///< the native one; null once it is closed

  /// Keeps the first error that no call could return, for the file's next sync or its end.
  void keep(Error error);
  Error take();

 private:
  std::mutex mutex_;
  Error kept_;
};

class Converted;
class Representation;

/// What the second half of a split collective call is called with.
struct SplitEnd {
  Direction direction = Direction::write;
  bool shared = false;
  bool has_offset = false;

  bool operator==(const SplitEnd&) const = default;
};

/// A split collective call that was begun.
struct SplitCall {
  SplitEnd ended_by;
  std::shared_ptr<Converted> converted;  ///< null where its data goes as it is
};

/// What a native handle of ours stands for: the engine's file, and what only MPI can hold.
struct OpenFile {
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  SessionHold session;  ///< first: the others end before it
  std::unique_ptr<file::File> file;
  std::shared_ptr<FileLink> link = std::make_shared<FileLink>();
  int amode = 0;
  MPI_Group group = MPI_GROUP_NULL;                ///< of the communicator, to be freed
  MPI_Datatype etype = MPI_DATATYPE_NULL;          ///< kept, see keep_type
  MPI_Datatype filetype = MPI_DATATYPE_NULL;       ///< kept
  const Representation* representation = nullptr;  ///< of the view; null: data goes as it is
  SplitCall split;
};

/// The file behind a handle, or null for handles that are not ours. Safe from several threads; the
/// file lives until it is closed, as MPI asks of its user.
OpenFile* find_file(MPI_File handle);

OpenFile& add_file(MPI_File handle, std::unique_ptr<OpenFile> file);

/// Whether the handle is MPI_FILE_NULL, or was that of a file of ours and nothing since; of the
/// last files closed.
bool was_closed(MPI_File handle);

/// For a handle that the library has made: it is no closed one of ours any more.
void note_native_file(MPI_File handle);

/// Forgets the handle and hands its file over.
std::unique_ptr<OpenFile> take_file(MPI_File handle);

/// Forgets all files, without the collective part of closing them. For the end of MPI.
void drop_files();

}  // namespace headrace::HEADRACE_FLAVOUR
