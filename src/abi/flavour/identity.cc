#include "abi/flavour/identity.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "abi/flavour/job.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// A path that leads to /dev/null. Open MPI keeps a node-wide semaphore named after the last part
/// of a file's path. With one name, all jobs and users would share it, wait for each other, and
/// fail if it belongs to another user. So the path is a link with a random name, which is removed
/// at once.
class NullPath {
 public:
  NullPath() {
#ifdef HEADRACE_FLAVOUR_OPENMPI
    const char* const folder = std::getenv("TMPDIR");
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return;
    char name[40];
    std::snprintf(name, sizeof name, "/headrace-%016llx", static_cast<unsigned long long>(number));
    std::string semaphore = "/dev/shm/sem.OMPIO_" + std::string(name + 1);
    link_ = (folder != nullptr && *folder != '\0' ? folder : "/tmp") + std::string(name);
    if (symlink("/dev/null", link_.c_str()) == 0) {
      semaphore_ = std::move(semaphore);
    } else {
      link_.clear();
    }
#endif
  }
  ~NullPath() {
    if (!link_.empty()) unlink(link_.c_str());
  }
  NullPath(const NullPath&) = delete;
  NullPath& operator=(const NullPath&) = delete;

  const char* get() const { return link_.empty() ? "/dev/null" : link_.c_str(); }

  /// Whether an open file keeps something in a folder, which a program that ends without
  /// MPI_Finalize leaves there: Open MPI 4 its semaphore, whose name Open MPI 5 removes at once; a
  /// component for shared pointers that somebody has chosen perhaps a file.
  bool leaves_something() const {
#ifdef HEADRACE_FLAVOUR_OPENMPI
    if (link_.empty() || std::getenv("OMPI_MCA_sharedfp") != nullptr) return true;
#endif
    return access(semaphore_.c_str(), F_OK) == 0;
  }

 private:
  std::string link_;
  std::string semaphore_;
};

/// ROMIO gives a new file the error handler of MPI_FILE_NULL without counting the reference, but
/// releases it when the file is closed. A handler whose handle the program has freed would then be
/// destroyed too early. The reference taken here makes up for it.
void keep_error_handler(MPI_File handle) {
#ifndef HEADRACE_FLAVOUR_OPENMPI
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  native.File_get_errhandler(handle, &handler);
#else
  static_cast<void>(handle);
#endif
}

/// Handles of closed files, kept for later files: opening and closing one takes the library longer
/// than all the rest of opening a file. They stay open at the end, since MPICH 4.0 hangs if a
/// callback of MPI_Finalize closes a file.
struct CachedHandles {
  static constexpr std::size_t kMaxHandles = 16;
  std::mutex mutex;
  std::array<MPI_File, kMaxHandles>
      handles;  ///< an array: a close that lacks memory keeps them too
  std::size_t size = 0;
  bool are_refused = false;  ///< since an open handle may leave something behind
};

CachedHandles& cached_handles() {
  static auto& only = *new CachedHandles;  // never destroyed: files are closed during exit too
  return only;
}

MPI_File take_cached() {
  CachedHandles& own = cached_handles();
  const std::lock_guard lock(own.mutex);
  return own.size == 0 ? MPI_FILE_NULL : own.handles[--own.size];
}

void refuse_cached() {
  CachedHandles& own = cached_handles();
  const std::lock_guard lock(own.mutex);
  own.are_refused = true;
}

/// Keeps a handle; false if there are enough.
bool keep_cached(MPI_File handle) {
  CachedHandles& own = cached_handles();
  const std::lock_guard lock(own.mutex);
  if (own.are_refused || own.size == CachedHandles::kMaxHandles) return false;
  own.handles[own.size++] = handle;
  return true;
}

/// Sets the error handler that the library gives a new file. False if it refuses.
bool set_default_error_handler(MPI_File handle) {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (native.File_get_errhandler(MPI_FILE_NULL, &handler) != MPI_SUCCESS) return false;
  const bool is_set = native.File_set_errhandler(handle, handler) == MPI_SUCCESS;
  native.Errhandler_free(&handler);
  return is_set;
}

}  // namespace

MPI_File open_identity() {
  if (MPI_File handle = is_initialized() ? take_cached() : MPI_FILE_NULL; handle != MPI_FILE_NULL) {
    if (set_default_error_handler(handle)) return handle;
    native.File_close(&handle);
  }
  // With a sequential file only the shared pointer may be used, so a read by mistake fails instead
  // of returning nothing.
  constexpr int kMode = MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL;
  const NullPath path;
  // Checks for a free descriptor first: the library would report the lack to the program before the
  // other ranks know.
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return MPI_FILE_NULL;
  ::close(descriptor);
  MPI_File handle = MPI_FILE_NULL;
  const int code = native.File_open(self_communicator(), path.get(), kMode, MPI_INFO_NULL, &handle);
  if (code != MPI_SUCCESS) return MPI_FILE_NULL;
  if (path.leaves_something()) refuse_cached();
  keep_error_handler(handle);
  return handle;
}

void close_identity(MPI_File handle, const SessionHold& session) {
  if (session != nullptr) {
    native.File_close(&handle);
    return;
  }
  // Releases the program's error handler.
  const bool is_reset = native.File_set_errhandler(handle, MPI_ERRORS_RETURN) == MPI_SUCCESS;
  if (!is_reset || !keep_cached(handle)) native.File_close(&handle);
}

}  // namespace headrace::HEADRACE_FLAVOUR
