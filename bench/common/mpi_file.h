#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <string>

#include "common/hints.h"

namespace headrace::bench {

/// A file opened through MPI. Errors are returned as a text, empty when all went well; a file that
/// could not be opened is closed and synced without one.
class MpiFile {
 public:
  MpiFile() = default;
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;

  /// Opens for writing (and reading, made where there is none) or for reading. Collective.
  [[nodiscard]] std::string open(MPI_Comm communicator, const std::string& path, bool writing,
                                 MPI_Info info);
  /// Sets the view, "native" and without hints. Collective.
  [[nodiscard]] std::string set_view(std::int64_t displacement, MPI_Datatype etype,
                                     MPI_Datatype type) {
    return result(MPI_File_set_view(file_, static_cast<MPI_Offset>(displacement), etype, type,
                                    "native", MPI_INFO_NULL),
                  "set the view of");
  }
  [[nodiscard]] std::string sync() { return is_open() ? result(MPI_File_sync(file_), "sync") : ""; }
  [[nodiscard]] std::string close();

  MPI_File handle() const { return file_; }
  bool is_open() const { return file_ != MPI_FILE_NULL; }
  Hints hints() const { return is_open() ? file_hints(file_) : Hints{}; }

  /// What `code` of an attempt to `action` says.
  std::string result(int code, const char* action) const;

  /// The same for a transfer, which must have moved `expected` of `type`; `unit` names those.
  std::string moved(int code, MPI_Status& status, MPI_Datatype type, std::int64_t expected,
                    const char* unit, const char* action) const;

 private:
  MPI_File file_ = MPI_FILE_NULL;
  std::string path_;
};

/// Closes a file at the end of its block, but not where an exception ends it: all ranks close
/// together, and those that have not failed would be waited for, while the job is to be aborted.
class ClosedAtEnd {
 public:
  explicit ClosedAtEnd(MpiFile& file) : file_(file) {}
  ~ClosedAtEnd() {
    if (std::uncaught_exceptions() == before_) static_cast<void>(file_.close());
  }
  ClosedAtEnd(const ClosedAtEnd&) = delete;
  ClosedAtEnd& operator=(const ClosedAtEnd&) = delete;

 private:
  MpiFile& file_;
  const int before_ = std::uncaught_exceptions();
};

}  // namespace headrace::bench
