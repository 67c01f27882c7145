/* Whether sends end before their receiver is ready: rank 0 sends to the last rank.
 *
 *     eager_limit FILE BYTES [BYTES...]    FILE is made, and seen by both
 *
 * Rank 0 prints "BYTES at once" or "BYTES waits" for each, and whether MPI_Query_thread says what
 * MPI_Init_thread has provided.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAKES = 5, STEP_US = 1000, STEPS = 100, FIRST = 64 };

static int rank, last;

static atomic_int* shared_number(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(atomic_int)) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  void* const map = mmap(NULL, sizeof(atomic_int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
  close(file);
  return map;
}

/* One message. The receiver is outside MPI until the send has ended, or for some time. */
static int ends_early(char* data, int bytes, atomic_int* ended, int take) {
  int early = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Send(data, bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD);
    atomic_store(ended, take);
  } else if (rank == last) {
    for (int i = 0; i < STEPS && !early; i++) {
      early = atomic_load(ended) == take;
      if (!early) usleep(STEP_US);
    }
    MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&early, 1, MPI_INT, last, MPI_COMM_WORLD);
  return early;
}

/* Libraries connect ranks, and give them more room, once they have exchanged some messages. */
static void exchange_some(void) {
  int out = 0, in = 0;
  for (int i = 0; i < FIRST && (rank == 0 || rank == last); i++) {
    MPI_Sendrecv(&out, 1, MPI_INT, last - rank, 1, &in, 1, MPI_INT, last - rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int size, level, provided, take = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  if (rank == 0) printf("threads %s\n", level == provided ? "as provided" : "otherwise");
  atomic_int* const ended = shared_number(argv[1]);
  exchange_some();
  for (int i = 2; i < argc; i++) {
    const int bytes = atoi(argv[i]);
    char* const data = calloc(1, (size_t)bytes + 1);
    int early = 0;
    /* On a busy machine a sender may be late though it waits for nobody. */
    for (int k = 0; k < TAKES && (k == 0 || !early); k++) {
      early = ends_early(data, bytes, ended, ++take);
    }
    if (rank == 0) printf("%d %s\n", bytes, early ? "at once" : "waits");
    free(data);
  }
  MPI_Finalize();
  return 0;
}
