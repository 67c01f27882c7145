#include "common/mpi_file.h"

#include "common/failure.h"

namespace headrace::bench {

std::string MpiFile::open(MPI_Comm communicator, const std::string& path, bool writing,
                          MPI_Info info) {
  path_ = path;
  const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  const int code = MPI_File_open(communicator, path.c_str(), mode, info, &file_);
  if (code != MPI_SUCCESS) file_ = MPI_FILE_NULL;
  return result(code, "open");
}

std::string MpiFile::close() {
  if (!is_open()) return {};
  const std::string error = result(MPI_File_close(&file_), "close");
  file_ = MPI_FILE_NULL;
  return error;
}

std::string MpiFile::result(int code, const char* action) const {
  if (code == MPI_SUCCESS) return {};
  return describe_mpi(std::string("cannot ") + action + " '" + path_ + "'", code);
}

std::string MpiFile::moved(int code, MPI_Status& status, MPI_Datatype type, std::int64_t expected,
                           const char* unit, const char* action) const {
  if (code != MPI_SUCCESS) return result(code, action);
  int count = 0;
  MPI_Get_count(&status, type, &count);
  if (count == expected) return {};
  return std::string("cannot ") + action + " '" + path_ + "' (" + std::to_string(count) + " of " +
         std::to_string(expected) + " " + unit +
         " were moved), check that the file is complete and the disk not full";
}

}  // namespace headrace::bench
