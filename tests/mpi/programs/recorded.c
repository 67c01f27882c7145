/* Calls of every kind, with a tally. Run on any number of ranks. */
#include "recorded.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 64, kLarge = 200000 };

static int rank, size, next, before;
static char out[kLarge * 2], in[kLarge * 2];
static int ints_out[kMost * 64], ints_in[kMost * 64];

static void point_to_point(void) {
  const int counts[] = {0, 1, 15, 16, 255, 256, 4096, 70000, kLarge};
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
    MPI_Request requests[2];
    MPI_Status status;
    const int n = counts[i];
    /* The receiver has room for more than comes. */
    CALL(MPI_Irecv, in, kLarge, MPI_BYTE, before, 1, MPI_COMM_WORLD, &requests[0]);
    SEND(MPI_Isend, n, out, n, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[1]);
    CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
    tally_arrival("MPI_Irecv", n);
    tally_message(next, n);
    SEND(MPI_Sendrecv, n, out, n, MPI_BYTE, next, 2, in, kLarge, MPI_BYTE, before, 2,
         MPI_COMM_WORLD, i % 2 ? MPI_STATUS_IGNORE : &status);
    tally_message(next, n);
    SEND(MPI_Sendrecv_replace, n, out, n, MPI_CHAR, next, 3, before, 3, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    tally_message(next, n);
    SEND(MPI_Issend, n, out, n, MPI_BYTE, next, 4, MPI_COMM_WORLD, &requests[0]);
    tally_message(next, n);
    CALL(MPI_Recv, in, kLarge, MPI_BYTE, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally_arrival("MPI_Recv", n);
    CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
  }
}

static void other_sends(void) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  static char buffer[4000 + MPI_BSEND_OVERHEAD * 4];
  CALL(MPI_Buffer_attach, buffer, (int)sizeof buffer);
  SEND(MPI_Bsend, 40, ints_out, 10, MPI_INT, next, 5, MPI_COMM_WORLD);
  tally_message(next, 40);
  CALL(MPI_Mprobe, before, 5, MPI_COMM_WORLD, &message, &status);
  CALL(MPI_Mrecv, ints_in, 20, MPI_INT, &message, MPI_STATUS_IGNORE);
  tally_arrival("MPI_Mrecv", 40);
  SEND(MPI_Ibsend, 4, ints_out, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &request);
  tally_message(next, 4);
  CALL(MPI_Wait, &request, &status);
  CALL(MPI_Mprobe, before, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  CALL(MPI_Imrecv, ints_in, 20, MPI_INT, &message, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
  tally_arrival("MPI_Imrecv", 4);
  void* detached;
  int length;
  CALL(MPI_Buffer_detach, &detached, &length);
  /* To and from nobody. */
  SEND(MPI_Send, 400, ints_out, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  CALL(MPI_Recv, ints_in, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  tally_arrival("MPI_Recv", 0);
}

/* How requests end. */
static void completions(void) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int index, flag, count, indices[4];
  for (int way = 0; way < 6; way++) {
    for (int i = 0; i < 4; i++) {
      CALL(MPI_Irecv, in + 1000 * i, 1000, MPI_BYTE, before, 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 4; i++) {
      SEND(MPI_Send, 10 * i, out, 10 * i, MPI_BYTE, next, 10 + i, MPI_COMM_WORLD);
      tally_message(next, 10 * i);
      tally_arrival("MPI_Irecv", 10 * i);
    }
    int left = 4;
    while (left > 0) {
      if (way == 0) {
        CALL(MPI_Waitany, 4, requests, &index, MPI_STATUS_IGNORE);
        left--;
      } else if (way == 1) {
        CALL(MPI_Waitsome, 4, requests, &count, indices, MPI_STATUSES_IGNORE);
        left -= count;
      } else if (way == 2) {
        CALL(MPI_Testall, 4, requests, &flag, MPI_STATUSES_IGNORE);
        if (flag) left = 0;
      } else if (way == 3) {
        CALL(MPI_Testany, 4, requests, &index, &flag, statuses);
        if (flag && index != MPI_UNDEFINED) left--;
      } else if (way == 4) {
        CALL(MPI_Testsome, 4, requests, &count, indices, statuses);
        left -= count;
      } else {
        CALL(MPI_Test, &requests[left - 1], &flag, MPI_STATUS_IGNORE);
        if (flag) left--;
      }
    }
  }
}

static void persistent(void) {
  MPI_Request requests[3];
  CALL(MPI_Send_init, ints_out, 5, MPI_INT, next, 20, MPI_COMM_WORLD, &requests[0]);
  CALL(MPI_Recv_init, ints_in, 50, MPI_INT, before, 20, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    CALL(MPI_Startall, 2, requests);
    tally_arrival("MPI_Startall", 20); /* sent, and below received */
    tally_message(next, 20);
    CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
    tally_arrival("MPI_Startall", 20);
  }
  CALL(MPI_Start, &requests[1]);
  CALL(MPI_Start, &requests[0]);
  tally_arrival("MPI_Start", 20);
  tally_message(next, 20);
  CALL(MPI_Wait, &requests[1], MPI_STATUS_IGNORE);
  CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
  tally_arrival("MPI_Start", 20);
  CALL(MPI_Request_free, &requests[0]);
  CALL(MPI_Request_free, &requests[1]);
}

static void collectives(MPI_Comm comm) {
  int own, ranks, counts[kMost], displacements[kMost], total = 0;
  MPI_Datatype types[kMost];
  MPI_Request request;
  CALL(MPI_Comm_rank, comm, &own);
  CALL(MPI_Comm_size, comm, &ranks);
  for (int i = 0; i < ranks; i++) {
    counts[i] = i % 3 + 1;
    displacements[i] = total;
    total += counts[i];
    types[i] = MPI_INT;
  }
  const int mine = counts[own];
  CALL(MPI_Barrier, comm);
  SEND(MPI_Bcast, 40, ints_out, 10, MPI_INT, 0, comm);
  SEND(MPI_Reduce, 40, ints_out, ints_in, 10, MPI_INT, MPI_SUM, 0, comm);
  SEND(MPI_Allreduce, 8, ints_out, ints_in, 2, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Allreduce, 8, MPI_IN_PLACE, ints_in, 2, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Scan, 4, ints_out, ints_in, 1, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Exscan, 4, ints_out, ints_in, 1, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Gather, 8, ints_out, 2, MPI_INT, ints_in, 2, MPI_INT, 0, comm);
  SEND(MPI_Gatherv, 4 * mine, ints_out, mine, MPI_INT, ints_in, counts, displacements, MPI_INT, 0,
       comm);
  SEND(MPI_Scatter, own == 0 ? 8 * ranks : 0, ints_out, 2, MPI_INT, ints_in, 2, MPI_INT, 0, comm);
  SEND(MPI_Scatterv, own == 0 ? 4 * total : 0, ints_out, counts, displacements, MPI_INT, ints_in,
       mine, MPI_INT, 0, comm);
  SEND(MPI_Allgather, 12, ints_out, 3, MPI_INT, ints_in, 3, MPI_INT, comm);
  SEND(MPI_Allgatherv, 4 * mine, ints_out, mine, MPI_INT, ints_in, counts, displacements, MPI_INT,
       comm);
  SEND(MPI_Alltoall, 4 * ranks, ints_out, 1, MPI_INT, ints_in, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; i++) counts[i] = 2, displacements[i] = 2 * i;
  SEND(MPI_Alltoallv, 8 * ranks, ints_out, counts, displacements, MPI_INT, ints_in, counts,
       displacements, MPI_INT, comm);
  for (int i = 0; i < ranks; i++) displacements[i] = 8 * i;
  SEND(MPI_Alltoallw, 8 * ranks, ints_out, counts, displacements, types, ints_in, counts,
       displacements, types, comm);
  SEND(MPI_Reduce_scatter, 8 * ranks, ints_out, ints_in, counts, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Reduce_scatter_block, 4 * ranks, ints_out, ints_in, 1, MPI_INT, MPI_SUM, comm);
  SEND(MPI_Iallreduce, 16, ints_out, ints_in, 4, MPI_INT, MPI_MAX, comm, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
  CALL(MPI_Ibarrier, comm, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

/* Ranks in another order than in MPI_COMM_WORLD. */
static void communicators(void) {
  MPI_Comm turned, cartesian;
  const int dimensions[] = {size}, periods[] = {1};
  CALL(MPI_Comm_split, MPI_COMM_WORLD, 0, -rank, &turned);
  const int own = size - 1 - rank, to = (own + 1) % size, from = (own + size - 1) % size;
  SEND(MPI_Sendrecv, 12, ints_out, 3, MPI_INT, to, 7, ints_in, 9, MPI_INT, from, 7, turned,
       MPI_STATUS_IGNORE);
  tally_message(size - 1 - to, 12);
  collectives(turned);
  CALL(MPI_Comm_free, &turned);
  CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, dimensions, periods, 0, &cartesian);
  SEND(MPI_Neighbor_allgather, 4, ints_out, 1, MPI_INT, ints_in, 1, MPI_INT, cartesian);
  SEND(MPI_Neighbor_alltoall, 8, ints_out, 1, MPI_INT, ints_in, 1, MPI_INT, cartesian);
  CALL(MPI_Comm_free, &cartesian);
}

static void one_sided(void) {
  MPI_Win window;
  static int memory[64], result;
  CALL(MPI_Win_create, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  CALL(MPI_Win_fence, 0, window);
  SEND(MPI_Put, 12, ints_out, 3, MPI_INT, next, 0, 3, MPI_INT, window);
  CALL(MPI_Win_fence, 0, window);
  SEND(MPI_Get, 8, ints_in, 2, MPI_INT, next, 0, 2, MPI_INT, window);
  CALL(MPI_Get, ints_in, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, window);
  tally_arrival("MPI_Get", 0);
  SEND(MPI_Accumulate, 4, ints_out, 1, MPI_INT, next, 9, 1, MPI_INT, MPI_SUM, window);
  CALL(MPI_Win_fence, 0, window);
  SEND(MPI_Fetch_and_op, 4, ints_out, &result, MPI_INT, next, 12, MPI_SUM, window);
  CALL(MPI_Win_fence, 0, window);
  CALL(MPI_Win_free, &window);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Request request;
  CALL(MPI_File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  SEND(MPI_File_write_at_all, 4000, file, rank * 4000, ints_out, 1000, MPI_INT, MPI_STATUS_IGNORE);
  CALL(MPI_File_sync, file);
  CALL(MPI_Barrier, MPI_COMM_WORLD);
  CALL(MPI_File_read_at, file, rank * 4000, ints_in, 500, MPI_INT, MPI_STATUS_IGNORE);
  tally_arrival("MPI_File_read_at", 2000);
  CALL(MPI_File_iread_at, file, rank * 4000, ints_in, 10, MPI_INT, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
  tally_arrival("MPI_File_iread_at", 40);
  /* Past the end nothing comes. */
  CALL(MPI_File_read_at_all, file, 100000000, ints_in, 10, MPI_INT, MPI_STATUS_IGNORE);
  tally_arrival("MPI_File_read_at_all", 0);
  CALL(MPI_File_close, &file);
}

static int deleted(MPI_Comm comm, int keyval, void* value, void* state) {
  (void)keyval, (void)value, (void)state;
  int own;
  return CALL(MPI_Comm_rank, comm, &own), MPI_SUCCESS;
}

/* The program's own functions, which MPI calls in a call. */
static void callbacks(void) {
  int keyval;
  MPI_Comm copy;
  CALL(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
  CALL(MPI_Comm_dup, MPI_COMM_WORLD, &copy);
  CALL(MPI_Comm_set_attr, copy, keyval, NULL);
  CALL(MPI_Comm_free, &copy);
  CALL(MPI_Comm_free_keyval, &keyval);
}

static void* thread_main(void* argument) {
  const int tag = *(const int*)argument;
  for (int i = 0; i < 50; i++) {
    SEND(MPI_Sendrecv, 4 * tag, ints_out, tag, MPI_INT, rank, tag, in + 8000 * (tag - 100), 2000,
         MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally_message(rank, 4 * tag);
  }
  return NULL;
}

static void threads(void) {
  pthread_t made[3];
  int tags[3];
  for (int i = 0; i < 3; i++) {
    tags[i] = 100 + i;
    pthread_create(&made[i], NULL, thread_main, &tags[i]);
  }
  for (int i = 0; i < 3; i++) pthread_join(made[i], NULL);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
  CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  point_to_point();
  other_sends();
  completions();
  persistent();
  collectives(MPI_COMM_WORLD);
  communicators();
  if (size > 1) one_sided(); /* Open MPI 4 refuses windows of one process on some machines */
  files(argv[1]);
  callbacks();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  tally_call("MPI_Wtime");
  (void)MPI_Wtime();
  tally_call("MPI_Finalize");
  tally_print(argv[1], rank);
  MPI_Finalize();
  return 0;
}
