#include "abi/flavour/identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// A path that leads to /dev/null. Open MPI keeps a semaphore of the whole node that is named after
/// the last part of a file's path: under one name all jobs and users would share it, wait for each
/// other, and fail where it belongs to somebody else. So the path is a link of a random name, which
/// goes away at once.
class NullPath {
 public:
  NullPath() {
#ifdef HEADRACE_FLAVOUR_OPENMPI
    const char* const folder = std::getenv("TMPDIR");
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return;
    char name[40];
    std::snprintf(name, sizeof name, "/headrace-%016llx", static_cast<unsigned long long>(number));
    link_ = (folder != nullptr && *folder != '\0' ? folder : "/tmp") + std::string(name);
    if (symlink("/dev/null", link_.c_str()) != 0) link_.clear();
#endif
  }
  ~NullPath() {
    if (!link_.empty()) unlink(link_.c_str());
  }
  NullPath(const NullPath&) = delete;
  NullPath& operator=(const NullPath&) = delete;

  const char* get() const { return link_.empty() ? "/dev/null" : link_.c_str(); }

 private:
  std::string link_;
};

/// ROMIO gives a new file the error handler of MPI_FILE_NULL without counting the file among its
/// users, but counts it off when the file is closed; so a handler whose handle the program has
/// freed would be gone. The reference that this takes makes up for it.
void keep_error_handler(MPI_File handle) {
#ifndef HEADRACE_FLAVOUR_OPENMPI
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  native.File_get_errhandler(handle, &handler);
#else
  static_cast<void>(handle);
#endif
}

}  // namespace

MPI_File open_identity() {
  // Of a sequential file only the shared pointer may be used, so reads do not succeed with nothing.
  constexpr int kMode = MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL;
  const NullPath path;
  MPI_File handle = MPI_FILE_NULL;
  const int code = native.File_open(MPI_COMM_SELF, path.get(), kMode, MPI_INFO_NULL, &handle);
  if (code != MPI_SUCCESS) return MPI_FILE_NULL;
  keep_error_handler(handle);
  return handle;
}

}  // namespace headrace::HEADRACE_FLAVOUR
