#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "abi/flavour/job.h"
#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// What a file shares with its requests, which may outlive the file.
struct FileLink {
  std::atomic<MPI_File> handle = MPI_FILE_NULL;  ///< the native one; null once it is closed

  /// Keeps the first error that no call could return, for the file's next sync or close.
  void keep(Error error);
  Error take();

 private:
  std::mutex mutex_;
  Error kept_;
};

class Converted;
class Representation;

/// The arguments of the ending procedure of a split collective call.
struct SplitEnd {
  Direction direction = Direction::write;
  bool shared = false;
  bool has_offset = false;

  bool operator==(const SplitEnd&) const = default;
};

/// An active split collective call.
struct SplitCall {
  SplitEnd ended_by;
  std::shared_ptr<Converted> converted;  ///< null if its data is not converted
};

/// The file behind a native handle of ours: the engine's file, and MPI's objects for it.
struct OpenFile {
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  SessionHold session;  ///< first member: the others are destroyed before it
  std::unique_ptr<file::File> file;
  std::shared_ptr<FileLink> link = std::make_shared<FileLink>();
  int amode = 0;
  MPI_Group group = MPI_GROUP_NULL;                ///< the communicator's group, to be freed
  MPI_Datatype etype = MPI_DATATYPE_NULL;          ///< kept, see keep_type
  MPI_Datatype filetype = MPI_DATATYPE_NULL;       ///< kept
  std::string memory_kinds;                        ///< as the communicator's info has them
  const Representation* representation = nullptr;  ///< of the view; null: data is not converted
  SplitCall split;
};

/// The file behind a handle, or null if the handle is not ours. Safe from several threads. The file
/// lives until it is closed; MPI forbids the program to use it meanwhile.
OpenFile* find_file(MPI_File handle);

OpenFile& add_file(MPI_File handle, std::unique_ptr<OpenFile> file);

/// Whether the handle is MPI_FILE_NULL, or is that of a closed file of ours and was not reused
/// since. Only the last closed files are remembered.
bool was_closed(MPI_File handle);

/// Called for a handle that the library has made: it is no longer a closed handle of ours.
void note_native_file(MPI_File handle);

/// Forgets the handle and returns its file.
std::unique_ptr<OpenFile> take_file(MPI_File handle);

/// Forgets all files, without the collective part of closing them. Called at the end of MPI.
void drop_files();

}  // namespace headrace::HEADRACE_FLAVOUR
