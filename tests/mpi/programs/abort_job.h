#ifndef ABORT_JOB_H
#define ABORT_JOB_H

#include <mpi.h>
#include <unistd.h>

/* MPI_Abort that does not come back. MPICH's (up to 5.0.2, its issue 7716) may: it asks the
 * launcher to kill the job, and the program goes on until that is done. */
static inline void abort_job(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  for (;;) pause();
}

#endif
