/* Cases for advice: each does one thing that costs, or if the second argument is "not" similar work
   without it. Ranks "compute" by sleeping, so that the times do not depend on the machine.

       advised CASE bad|not [TIMES] FILE

   TIMES: how often small-collectives goes on for that long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, is_bad, times = 1;
static const char* path;

static void compute(double seconds) {
  struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

/* One rank's work is `most`, that of the others `least`; without the flaw all have as much. */
static double shared(int is_longest, double most, double least) {
  if (!is_bad) return (most + least * (ranks - 1)) / ranks;
  return is_longest ? most : least;
}

static void load_imbalance(void) {
  for (int step = 0; step < 10; ++step) {
    compute(shared(rank == ranks - 1, 0.08, 0.02));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void serial_part(void) {
  for (int step = 0; step < 10; ++step) {
    compute(shared(rank == 0, 0.08, 0.01));
    double value = 1;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Ranks are late in turn, so their sums are alike: no imbalance, but waiting. */
static void barriers(void) {
  for (int step = 0; step < 4 * ranks; ++step) {
    compute(step % ranks == rank ? 0.04 : 0.01);
    if (is_bad) MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void blocking_messages(void) {
  static char out[1 << 20], in[1 << 20];
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int step = 0; step < 20; ++step) {
    if (is_bad) {
      const int is_late = (rank + step) % 2 == 0;
      if (is_late) compute(0.02);
      MPI_Sendrecv(out, sizeof out, MPI_CHAR, next, 0, in, sizeof in, MPI_CHAR, before, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!is_late) compute(0.02);
    } else {
      compute(0.02);
    }
  }
}

static void late_senders(void) {
  int value = 0;
  for (int step = 0; step < 10; ++step) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int peer = rank ^ 1;
    const int is_sender = (rank + step) % 2 == 0;
    if (peer >= ranks) continue;
    if (!is_sender) MPI_Irecv(&value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    if (is_bad && !is_sender) MPI_Wait(&request, MPI_STATUS_IGNORE);
    compute(0.04);
    if (is_sender) MPI_Isend(&step, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    if (is_sender || !is_bad) {
      if (!is_bad && !is_sender) compute(0.01);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

static void synchronous_sends(void) {
  static char data[1000];
  for (int step = 0; step < 10; ++step) {
    if (rank % 2 == 0 && rank + 1 < ranks) {
      if (is_bad)
        MPI_Ssend(data, sizeof data, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
      else
        MPI_Send(data, sizeof data, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
    }
    compute(0.03);
    if (rank % 2 == 1)
      MPI_Recv(data, sizeof data, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* All ranks look for messages that nobody sends. */
static void polling(void) {
  int found = 0;
  for (long calls = 0; is_bad && calls < 200000; ++calls)
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  compute(0.02);
}

static void small_collectives(void) {
  double value[1000] = {1};
  const int calls = is_bad ? 3000 * times : 3;
  for (int step = 0; step < calls; ++step)
    MPI_Allreduce(MPI_IN_PLACE, value, is_bad ? 1 : 1000, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void communicators_made_anew(void) {
  for (int step = 0; step < (is_bad ? 300 : 2); ++step) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
  }
}

static void types_made_anew(void) {
  for (int step = 0; step < (is_bad ? 20000 : 2); ++step) {
    MPI_Datatype made;
    MPI_Type_vector(100, 1, 3, MPI_DOUBLE, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&made);
  }
}

static MPI_File opened(MPI_Comm comm) {
  MPI_File file;
  if (MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != 0) {
    fprintf(stderr, "cannot open %s\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return file;
}

static void opened_again(void) {
  for (int step = 0; step < (is_bad ? 200 : 1); ++step) {
    MPI_File file = opened(MPI_COMM_WORLD);
    MPI_File_close(&file);
  }
}

static void small_pieces(MPI_Comm comm, int writers) {
  static char data[1 << 20];
  MPI_File file = opened(comm);
  const int pieces = is_bad ? 20000 : 1, size = is_bad ? 50 : 1000000;
  for (int piece = 0; piece < pieces && rank < writers; ++piece) {
    const MPI_Offset at = (MPI_Offset)(rank * pieces + piece) * size;
    MPI_File_write_at(file, at, data, size, MPI_CHAR, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

static void small_independent_io(void) {
  small_pieces(MPI_COMM_WORLD, ranks);
}

static void small_serial_io(void) {
  small_pieces(MPI_COMM_WORLD, 1);
}

static void one_rank_does_io(void) {
  enum { size = 64 << 20 };
  MPI_File file = opened(MPI_COMM_WORLD);
  const int part = is_bad ? size : size / ranks;
  char* data = calloc(1, (size_t)part);
  for (int step = 0; step < 4; ++step) {
    if (!is_bad || rank == 0)
      MPI_File_write_at(file, (MPI_Offset)rank * part, data, part, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(data);
  MPI_File_close(&file);
}

static void blocking_checkpoints(void) {
  enum { size = 32 << 20 };
  char* data = calloc(1, size);
  MPI_File file = opened(MPI_COMM_WORLD);
  for (int step = 0; step < 4; ++step) {
    compute(0.02);
    MPI_File_write_at_all(file, (MPI_Offset)rank * size, data, is_bad ? size : 1, MPI_CHAR,
                          MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  free(data);
}

static void sync_calls(void) {
  static char data[1000];
  MPI_File file = opened(MPI_COMM_WORLD);
  for (int step = 0; step < 50; ++step) {
    MPI_File_write_at(file, (MPI_Offset)(step * ranks + rank) * (MPI_Offset)sizeof data, data,
                      sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
    if (is_bad) MPI_File_sync(file);
  }
  MPI_File_close(&file);
}

/* More files than a thousand, of all ranks together; the twin opens three. */
static void files_by_the_thousand(void) {
  char name[4096];
  const int count = is_bad ? 1200 / ranks : 3;
  for (int number = 0; number < count; ++number) {
    MPI_File file;
    snprintf(name, sizeof name, "%s.%d.%d", path, rank, number);
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file) != 0)
      MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_close(&file);
    remove(name);
  }
}

/* Each rank reads 1 KiB of each 4 KiB by one call; the twin reads as much in one stretch. */
static void read_amplification(void) {
  enum { piece = 1 << 10, distance = 4 << 10, pieces = 4096 };
  char* data = calloc(pieces, distance);
  MPI_File file = opened(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_write_at(file, 0, data, pieces * distance, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Datatype type;
  MPI_Type_vector(pieces, piece, is_bad ? distance : piece, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, 0, MPI_CHAR, type, "native", MPI_INFO_NULL);
  for (int step = 0; step < 10; ++step)
    MPI_File_read_at(file, 0, data, pieces * piece, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  MPI_File_close(&file);
  free(data);
}

/* Ranks are late in turn; the twin has no window to meet at. */
static void window_synchronisation(void) {
  int value = 0;
  MPI_Win window;
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int step = 0; step < 4 * ranks; ++step) {
    compute(step % ranks == rank ? 0.04 : 0.01);
    if (is_bad) MPI_Win_fence(0, window);
  }
  MPI_Win_free(&window);
}

/* Ranks sleep; those of the twin compute. */
static void waiting_for_cores(void) {
  if (is_bad) compute(0.4);
  for (double end = MPI_Wtime() + (is_bad ? 0.01 : 0.4); MPI_Wtime() < end;) {
  }
}

static void shared_pointer(void) {
  static char data[1000];
  MPI_File file = opened(MPI_COMM_WORLD);
  for (int step = 0; step < 1000; ++step) {
    if (is_bad)
      MPI_File_write_shared(file, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
    else
      MPI_File_write_at(file, (MPI_Offset)(step * ranks + rank) * (MPI_Offset)sizeof data, data,
                        sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

static void waiting_not_algorithm(void) {
  double value = 1;
  for (int step = 0; step < 10; ++step) {
    compute(is_bad && rank == 0 ? 0.05 : 0.02);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"load-imbalance", load_imbalance},
    {"serial-part", serial_part},
    {"barriers", barriers},
    {"blocking-messages", blocking_messages},
    {"late-senders", late_senders},
    {"synchronous-sends", synchronous_sends},
    {"polling", polling},
    {"small-collectives", small_collectives},
    {"communicators-made-anew", communicators_made_anew},
    {"types-made-anew", types_made_anew},
    {"waiting-not-algorithm", waiting_not_algorithm},
    {"opened-again", opened_again},
    {"small-independent-io", small_independent_io},
    {"small-serial-io", small_serial_io},
    {"one-rank-does-io", one_rank_does_io},
    {"shared-pointer", shared_pointer},
    {"blocking-checkpoints", blocking_checkpoints},
    {"sync-calls", sync_calls},
    {"files-by-the-thousand", files_by_the_thousand},
    {"read-amplification", read_amplification},
    {"window-synchronisation", window_synchronisation},
    {"waiting-for-cores", waiting_for_cores},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_bad = argc < 3 || strcmp(argv[2], "not") != 0;
  path = argv[argc - 1];
  if (argc > 4) times = atoi(argv[3]);
  for (size_t at = 0; argc > 3 && at < sizeof cases / sizeof *cases; ++at) {
    if (strcmp(cases[at].name, argv[1]) != 0) continue;
    cases[at].run();
    MPI_Finalize();
    return 0;
  }
  if (rank == 0) fprintf(stderr, "usage: advised CASE bad|not FILE\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 2;
}
