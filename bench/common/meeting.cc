#include "common/meeting.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

namespace headrace::bench {
namespace {

bool outnumber_cores = false;  ///< the ranks of this node do

}  // namespace

void count_cores(MPI_Comm node) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  // It fails where the machine has more of them than the set has room for.
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) std::memset(&usable, 0xff, sizeof usable);
  // Ranks may be bound to cores of their own: those of all are the node's.
  MPI_Allreduce(MPI_IN_PLACE, &usable, sizeof usable, MPI_BYTE, MPI_BOR, node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  outnumber_cores = ranks > std::min<long>(CPU_COUNT(&usable), sysconf(_SC_NPROCESSORS_ONLN));
}

void meet(MPI_Comm communicator) {
  constexpr timespec pause{0, 100'000};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (outnumber_cores) nanosleep(&pause, nullptr);
  }
}

}  // namespace headrace::bench
