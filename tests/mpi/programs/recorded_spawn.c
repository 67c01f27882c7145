/* Starts two jobs of two ranks each, which run at the same time. Each rank of them makes as many
 * calls as its job's number says. */
#include <mpi.h>
#include <stdlib.h>

enum { kJobs = 2 };

int main(int argc, char** argv) {
  MPI_Comm parent, jobs[kJobs];
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char* words[kJobs][2] = {{"10", NULL}, {"20", NULL}};
    for (int i = 0; i < kJobs; i++) {
      MPI_Comm_spawn(argv[0], words[i], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &jobs[i],
                     MPI_ERRCODES_IGNORE);
    }
    for (int i = 0; i < kJobs; i++) {
      MPI_Barrier(jobs[i]);
      MPI_Comm_disconnect(&jobs[i]);
    }
  } else {
    for (int i = 0; i < atoi(argv[1]); i++)
      MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  return 0;
}
