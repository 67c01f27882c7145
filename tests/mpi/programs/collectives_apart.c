/* Collective calls of which we carry some out and leave others to the library, so that a rank may
 * be many calls ahead: collectives_apart ahead|attributes|windows|wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static long wrong;

static void expect(int is_so, const char* what) {
  if (is_so) return;
  if (wrong++ < 5) fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* A block of data, then small calls, which wait for nobody. The others are late. */
static void run_ahead(int numbers) {
  int* data = malloc(sizeof(int) * (size_t)numbers);
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < numbers; ++k) data[k] = rank == 0 ? i * 1000 + k : -1;
    if (rank != 0 && i % 3 != 0) usleep(200);
    expect(MPI_Bcast(data, numbers, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "Bcast fails");
    for (int k = 0; k < numbers; ++k) expect(data[k] == i * 1000 + k, "a block is wrong");
    for (int k = 0; k < i % 9 * 10; ++k) {
      int number = rank == 0 ? i * 10 + k : -1;
      MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
      expect(number == i * 10 + k, "a number is wrong");
    }
  }
  free(data);
}

static void mix(void) {
  int all[64];
  for (int i = 0; i < 2000; ++i) {
    int one = 1, sum = 0;
    if (i % 3 == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(i % 3 != 0 || sum == ranks, "a sum is wrong");
    if (i % 3 == 1) MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; i % 3 == 1 && k < ranks; ++k) expect(all[k] == k, "a gathered number is wrong");
    if (i % 3 == 2) MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 8; ++k) {
      int number = rank == 0 ? i * 8 + k : -1;
      MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
      expect(number == i * 8 + k, "a number is wrong");
    }
  }
}

static void ahead(void) {
  run_ahead(5);
  run_ahead(1000);
  run_ahead(300000);
  mix();
}

/* The program's functions that copy and delete attributes call collective operations. */

static void call_some(MPI_Comm communicator) {
  int size;
  MPI_Comm_size(communicator, &size);
  for (int i = 0; i < 8; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
    expect(sum == size, "a sum is wrong");
    MPI_Barrier(communicator);
  }
}

static int copy(MPI_Comm from, int key, void* state, void* value, void* made, int* is_made) {
  (void)key, (void)state;
  call_some(from);
  *(void**)made = value;
  *is_made = 1;
  return MPI_SUCCESS;
}

static int end(MPI_Comm communicator, int key, void* value, void* state) {
  (void)key, (void)value, (void)state;
  call_some(communicator);
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key, value;
  MPI_Comm_create_keyval(&copy, &end, &key, NULL);
  for (int i = 0; i < 9; ++i) {
    MPI_Comm own, again;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    if (i % 3 == 1) call_some(own);
    MPI_Comm_set_attr(own, key, &value);
    if (i % 3 == 2) call_some(own);
    MPI_Comm_dup(own, &again);
    MPI_Comm_free(&again);
    MPI_Comm_disconnect(&own);
  }
}

/* What the others did before a barrier is seen behind it, though MPI does not promise that. */

static void windows(void) {
  static int memory[4];
  MPI_Win window;
  MPI_Group all, others;
  const int first = 0;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_group(window, &all);
  if (rank == 0) {
    MPI_Group_excl(all, 1, &first, &others);
  } else {
    MPI_Group_incl(all, 1, &first, &others);
  }
  for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD); /* the first ones are the library's */
  for (int i = 0; i < 30; ++i) {
    int flag = 0;
    if (rank != 0) MPI_Win_post(others, 0, window);
    if (rank == 0) MPI_Win_start(others, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Win_complete(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) continue;
    MPI_Win_test(window, &flag);
    expect(flag, "an access epoch that has ended is not seen");
    if (!flag) MPI_Win_wait(window);
  }
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
}

/* Errors that plain MPI tells at once, on all ranks: how often the program's handler is called, and
 * the class of what is returned. */

static int handled;

static void handle(MPI_Comm* communicator, int* code, ...) {
  (void)communicator, (void)code;
  ++handled;
}

static void show(const char* name, int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  if (rank == 0) printf("%s %d %d\n", name, class, handled);
  handled = 0;
}

static void wrong_arguments(void) {
  int from[64] = {0}, to[64] = {0};
  MPI_Errhandler handler;
  MPI_Comm own;
  MPI_Datatype pairs;
  MPI_Comm_create_errhandler(&handle, &handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  for (int i = 0; i < 5; ++i) call_some(own);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
  show("type", MPI_Allgather(from, 1, MPI_DATATYPE_NULL, to, 1, MPI_INT, own));
  show("count", MPI_Allgather(from, -2, MPI_INT, to, 1, MPI_INT, own));
  show("counts", MPI_Bcast(from, -1, MPI_INT, 0, own));
  show("committed", MPI_Bcast(from, 1, pairs, 0, own));
  show("wide", MPI_Allreduce(from, to, 1, MPI_WCHAR, MPI_SUM, own));
  show("root", MPI_Bcast(from, 1, MPI_INT, ranks, own));
  show("operation", MPI_Allreduce(from, to, 1, MPI_INT, MPI_OP_NULL, own));
  MPI_Type_free(&pairs);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "ahead") == 0) ahead();
  if (strcmp(way, "attributes") == 0) attributes();
  if (strcmp(way, "windows") == 0) windows();
  if (strcmp(way, "wrong") == 0) wrong_arguments();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %ld\n", wrong);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
