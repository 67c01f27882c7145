#include "common/test_file.h"

#include <unistd.h>

#include <cerrno>

#include "common/failure.h"
#include "common/meeting.h"
#include "common/posix_io.h"

namespace headrace::bench {

void remove_test_file(MPI_Comm communicator, const std::string& path, bool mine) {
  meet(communicator);
  std::string error;
  if (mine && ::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    error = describe_errno("cannot remove '" + path + "'", errno);
  }
  agree(communicator, error);
}

void require_space(MPI_Comm communicator, const std::string& path, std::int64_t needed) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::int64_t available = free_space(path);
  std::string error;
  if (rank == 0 && available >= 0 && available < needed) {
    error = "not enough space for '" + path + "' (" + std::to_string(needed) + " bytes needed, " +
            std::to_string(available) + " free), give another path or " + make_smaller();
  }
  agree(communicator, error);
}

}  // namespace headrace::bench
