/* Each rank has two threads that wait on CPUs of their own until the program has ended: threaded
 * CPU CPU. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t bound;

static void* wait_there(void* cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
  pthread_barrier_wait(&bound);
  for (;;) pause();
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 1);
  pthread_barrier_init(&bound, NULL, 3);
  pthread_t threads[2];
  for (int one = 0; one < 2; ++one) {
    pthread_create(&threads[one], NULL, wait_there, argv[1 + one]);
    pthread_detach(threads[one]);
  }
  pthread_barrier_wait(&bound);
  MPI_Finalize();
  return 0;
}
