/* Collective calls whose ranks differ about sizes: collectives_differing node|nodes. Who gets less
 * than it expects gets that, and no error; who gets more is told MPI_ERR_TRUNCATE. Between nodes,
 * of a broadcast, a reduction and an allgather, who gets less is told so, too, and gets nothing.
 * Nothing else of its memory changes, and later calls are right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static long wrong;
static MPI_Comm comm;

/* Open MPI 5.0 writes all of a large message, whatever it was told to receive. */
#ifdef OPEN_MPI
enum { cuts_messages = 0 };
#else
enum { cuts_messages = 1 };
#endif

enum { guard = 8, untouched = -7 };

struct sizes {
  int sent, expected; /* numbers */
};
static const struct sizes cases[] = {{5, 10},     {15, 10},      {5, 10000},     {10000, 5},
                                     {700, 700},  {9000, 12000}, {12000, 9000},  {3, 8},
                                     {4000, 200}, {200, 4000},   {20000, 19999}, {1, 1}};
enum { case_count = sizeof cases / sizeof cases[0] };

static const char* operation;
static struct sizes now;

static void expect(int is_so, const char* what) {
  if (is_so) return;
  if (wrong++ < 5) {
    fprintf(stderr, "rank %d: %s, %d sent, %d expected: %s\n", rank, operation, now.sent,
            now.expected, what);
  }
}

static int value(int from, int to, int k) {
  return from * 1000003 + to * 5003 + k * 7 + now.sent;
}

static int stride(void) {
  return (now.sent > now.expected ? now.sent : now.expected) + guard;
}

/* What each rank would give each; and memory for what it gets, with places between. */
static int* filled(void) {
  int* numbers = malloc(sizeof(int) * (size_t)(stride() * ranks));
  for (int to = 0; to < ranks; ++to) {
    for (int k = 0; k < stride(); ++k) numbers[to * stride() + k] = value(rank, to, k);
  }
  return numbers;
}
static int* cleared(size_t count) {
  int* numbers = malloc(sizeof(int) * count);
  for (size_t k = 0; k < count; ++k) numbers[k] = untouched;
  return numbers;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

/* A block that came from another rank: `step` is the distance of its numbers. After an error a part
 * of it may lack. */
static void check(const int* block, int from, int sent, int step, int code) {
  int here = sent < now.expected ? sent : now.expected;
  for (int k = 0; k < now.expected; ++k) {
    int found = block[k * step];
    if (code == MPI_SUCCESS) {
      expect(found == (k < here ? value(from, rank, k) : untouched), "a number is wrong");
    }
    for (int gap = 1; gap < step; ++gap) {
      expect(block[k * step + gap] == untouched, "a gap has changed");
    }
  }
  for (int k = 0; k < guard; ++k) {
    expect(block[now.expected * step + k] == untouched, "what is behind has changed");
  }
}

static void check_code(int code, int is_cut) {
  expect(class_of(code) == (is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the code is wrong");
}

/* With root, each rank's own block has the size that is expected. */
static int sent_by(int from, int root) {
  return from == root ? now.expected : now.sent;
}

static void set_counts(int* counts, int* displacements, int root, int differs) {
  for (int i = 0; i < ranks; ++i) {
    counts[i] = differs ? sent_by(i, root) : now.expected;
    displacements[i] = i * stride();
  }
}

static void gatherv(int root) {
  int counts[64], displacements[64];
  int *given = filled(), *got = cleared((size_t)(stride() * ranks));
  operation = "gatherv";
  set_counts(counts, displacements, root, 0);
  int code = MPI_Gatherv(given + root * stride(), sent_by(rank, root), MPI_INT, got, counts,
                         displacements, MPI_INT, root, comm);
  check_code(code, rank == root && now.sent > now.expected);
  for (int from = 0; rank == root && from < ranks; ++from) {
    check(got + from * stride(), from, sent_by(from, root), 1, code);
  }
  free(given);
  free(got);
}

static void scatterv(int root) {
  int counts[64], displacements[64];
  int *given = filled(), *got = cleared((size_t)stride());
  operation = "scatterv";
  set_counts(counts, displacements, root, 1);
  int code =
      MPI_Scatterv(given, counts, displacements, MPI_INT, got, now.expected, MPI_INT, root, comm);
  check_code(code, rank != root && now.sent > now.expected);
  check(got, root, sent_by(rank, root), 1, code);
  free(given);
  free(got);
}

static void alltoallv(void) {
  int sent[64], expected[64], displacements[64];
  int *given = filled(), *got = cleared((size_t)(stride() * ranks));
  operation = "alltoallv";
  set_counts(sent, displacements, rank, 1);
  set_counts(expected, displacements, rank, 0);
  int code = MPI_Alltoallv(given, sent, displacements, MPI_INT, got, expected, displacements,
                           MPI_INT, comm);
  check_code(code, ranks > 1 && now.sent > now.expected);
  for (int from = 0; from < ranks; ++from) {
    check(got + from * stride(), from, sent_by(from, rank), 1, code);
  }
  free(given);
  free(got);
}

/* The receiver's elements are two numbers with gaps, so that the last one may come in part. */
static void alltoallw(void) {
  now.expected += now.expected % 2;
  int sent[64], expected[64], from[64], to[64];
  MPI_Datatype numbers[64], pairs[64], vector, pair;
  const int step = 2, length = stride() * step;
  int *given = filled(), *got = cleared((size_t)(length * ranks));
  operation = "alltoallw";
  MPI_Type_vector(2, 1, step, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * step * (MPI_Aint)sizeof(int), &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < ranks; ++i) {
    numbers[i] = MPI_INT;
    pairs[i] = pair;
    sent[i] = sent_by(i, rank);
    expected[i] = now.expected / 2;
    from[i] = i * stride() * (int)sizeof(int);
    to[i] = i * length * (int)sizeof(int);
  }
  int code = MPI_Alltoallw(given, sent, from, numbers, got, expected, to, pairs, comm);
  check_code(code, ranks > 1 && now.sent > now.expected);
  for (int i = 0; i < ranks; ++i) check(got + i * length, i, sent_by(i, rank), step, code);
  MPI_Type_free(&vector);
  MPI_Type_free(&pair);
  free(given);
  free(got);
}

static void broadcast(int root, int step) {
  MPI_Datatype type = MPI_INT, stepped = MPI_DATATYPE_NULL;
  int *given = filled(), *got = cleared((size_t)((now.expected + guard) * step));
  operation = step == 1 ? "bcast" : "bcast with gaps";
  MPI_Type_create_resized(MPI_INT, 0, step * (MPI_Aint)sizeof(int), &stepped);
  MPI_Type_commit(&stepped);
  if (rank != root && step > 1) type = stepped;
  for (int k = 0; k < now.sent; ++k) given[k] = value(root, 0, k);
  int code = rank == root ? MPI_Bcast(given, now.sent, MPI_INT, root, comm)
                          : MPI_Bcast(got, now.expected, type, root, comm);
  check_code(code, rank != root && now.sent > now.expected);
  for (int k = 0; rank != root && code == MPI_SUCCESS && k < now.expected; ++k) {
    expect(got[k * step] == (k < now.sent ? value(root, 0, k) : untouched), "a number is wrong");
  }
  for (int k = 0; k < guard; ++k) {
    expect(got[now.expected * step + k] == untouched, "what is behind has changed");
  }
  MPI_Type_free(&stepped);
  free(given);
  free(got);
}

/* What came, if anything did; with an error a part of it may lack. */
static void check_told(const int* got, int numbers, int code, int is_told, int first, int step) {
  expect(code == MPI_SUCCESS || class_of(code) == MPI_ERR_TRUNCATE, "the code is wrong");
  expect(!is_told || now.sent == now.expected || code != MPI_SUCCESS, "nobody was told");
  expect(now.sent != now.expected || code == MPI_SUCCESS, "a right call has failed");
  for (int k = 0; k < numbers; ++k) {
    int right = first + step * k;
    expect(got[k] == right || (code != MPI_SUCCESS && got[k] == untouched), "a number is foreign");
  }
  for (int k = 0; k < guard; ++k) {
    expect(got[numbers + k] == untouched, "what is behind has changed");
  }
}

/* The root has `sent` numbers, the others expect as many as they do. */
static void broadcast_between(int root) {
  int numbers = rank == root ? now.sent : now.expected;
  int* data = cleared((size_t)(numbers + guard));
  operation = "bcast between nodes";
  for (int k = 0; rank == root && k < numbers; ++k) data[k] = root + 3 * k;
  int code = MPI_Bcast(data, numbers, MPI_INT, root, comm);
  check_told(data, numbers, code, rank != root, root, 3);
  free(data);
}

static void reduce_between(int root) {
  int numbers = rank == root ? now.expected : now.sent;
  int *given = cleared((size_t)numbers), *got = cleared((size_t)(numbers + guard));
  operation = "reduce between nodes";
  for (int k = 0; k < numbers; ++k) given[k] = rank + k;
  int code = MPI_Reduce(given, got, numbers, MPI_INT, MPI_SUM, root, comm);
  if (rank == root) check_told(got, numbers, code, 1, ranks * (ranks - 1) / 2, ranks);
  free(given);
  free(got);
}

static void allgather_between(int odd) {
  int numbers = rank == odd ? now.sent : now.expected;
  int *given = cleared((size_t)numbers), *got = cleared((size_t)(ranks * numbers + guard));
  operation = "allgather between nodes";
  for (int k = 0; k < numbers; ++k) given[k] = rank * numbers + k;
  int code = MPI_Allgather(given, numbers, MPI_INT, got, numbers, MPI_INT, comm);
  check_told(got, ranks * numbers, code, 1, 0, 1);
  free(given);
  free(got);
}

static void check_sum(void) {
  int one = 1, sum = 0;
  operation = "allreduce";
  expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == ranks,
         "a sum is wrong");
}

/* Calls of the same operations, in which all are right. */
static void make_right_calls(void) {
  struct sizes differing = now;
  for (int numbers = 10; numbers < 20000; numbers *= 900) {
    now.sent = now.expected = numbers;
    broadcast_between(1 % ranks);
    reduce_between(0);
    allgather_between(0);
  }
  now = differing;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int is_one_node = argc > 1 && strcmp(argv[1], "node") == 0;
  for (int i = 0; i < 5; ++i) check_sum();
  for (int i = 0; i < 3 * case_count; ++i) {
    now = cases[i % case_count];
    gatherv(i % ranks);
    scatterv((i + 1) % ranks);
    check_sum();
    if (is_one_node) {
      broadcast(i % ranks, 1);
      broadcast((i + 1) % ranks, 3);
    }
    if (!is_one_node) {
      broadcast_between(i % ranks);
      reduce_between((i + 1) % ranks);
      allgather_between((i + 2) % ranks);
      make_right_calls();
    }
    if (is_one_node || cuts_messages || now.sent <= now.expected) {
      alltoallv();
      alltoallw();
    }
    check_sum();
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %ld\n", wrong);
  fflush(stdout);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
