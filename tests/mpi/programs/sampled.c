/* Cases for advice from samples: each spends CPU time in one way that costs, or if the second
   argument is "not" about as much in another way. How it is compiled belongs to some of them
   (tests/mpi/test_profile_advice.py).

       sampled CASE bad|not */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define SECONDS 0.8

static int rank, ranks, is_bad;
static volatile double sink;
static double numbers[4096], others[4096];
static void* volatile blocks[64];

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Neither in loops that compilers could vectorise, nor in a library. */
APART static double plain(void) {
  double x = 1;
  for (int i = 0; i < 100000; i++) x = x * 1.0000001 + 0.0000001;
  return x;
}

/* Each number needs the one before. */
APART static double chain(void) {
  double x = 1;
  for (int i = 0; i < 4096; i++) {
    x = x * 0.5 + numbers[i];
  }
  return x;
}

APART static double added(void) {
  for (int i = 0; i < 4096; i++) {
    numbers[i] = numbers[i] * 0.5 + others[i];
  }
  return numbers[7];
}

APART static double sines(void) {
  double sum = 0;
  for (int i = 0; i < 1000; i++) sum += sin(i + sink * 1e-9) * exp(-i * 1e-3);
  return sum;
}

APART static double allocated(void) {
  for (int i = 0; i < 1000; i++) {
    free(blocks[i % 64]);
    blocks[i % 64] = malloc((size_t)(2000 + 40 * (i * 7 % 64)));
  }
  return sink;
}

/* Each page that is touched first is a fault. */
APART static double mapped(void) {
  const size_t size = 16 << 20;
  char* const made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return 0;
  for (size_t at = 0; at < size; at += 4096) made[at] = 1;
  sink = made[size / 2];
  munmap(made, size);
  return sink;
}

static void repeat(double (*work)(void), double seconds) {
  const double begin = cpu();
  while (cpu() - begin < seconds) sink = work();
}

static void unoptimised_code(void) {
  repeat(plain, SECONDS);
}
static void unvectorised_loop(void) {
  repeat(is_bad ? chain : added, SECONDS);
}
static void uneven_function(void) {
  repeat(plain, is_bad && rank != ranks - 1 ? SECONDS / 5 : SECONDS);
}
static void allocation(void) {
  repeat(is_bad ? allocated : plain, SECONDS);
}
static void kernel_time(void) {
  repeat(is_bad ? mapped : plain, SECONDS);
}
static void scalar_mathematics(void) {
  repeat(is_bad ? sines : plain, SECONDS);
}

static pthread_spinlock_t lock;

static void* hold(void* none) {
  const double begin = cpu();
  while (cpu() - begin < SECONDS) {
    if (is_bad) pthread_spin_lock(&lock);
    sink = plain();
    if (is_bad) pthread_spin_unlock(&lock);
  }
  return none;
}

static void in_two_threads(void) {
  pthread_t other;
  pthread_create(&other, NULL, hold, NULL);
  hold(NULL);
  pthread_join(other, NULL);
}

static void locks(void) {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  in_two_threads();
}

static void one_thread(void) {
  if (is_bad) {
    repeat(plain, SECONDS);
  } else {
    in_two_threads();
  }
}

/* Ranks are late in turn, so that their sums are alike. */
static void spinning_in_mpi(void) {
  for (int step = 0; step < 20; ++step) {
    if (!is_bad || step % ranks == rank) repeat(plain, SECONDS / 10);
    if (is_bad) MPI_Barrier(MPI_COMM_WORLD);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"unoptimised-code", unoptimised_code},
    {"unvectorised-loop", unvectorised_loop},
    {"uneven-function", uneven_function},
    {"allocation", allocation},
    {"locks", locks},
    {"kernel-time", kernel_time},
    {"one-thread", one_thread},
    {"scalar-mathematics", scalar_mathematics},
    {"spinning-in-mpi", spinning_in_mpi},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_bad = argc < 3 || strcmp(argv[2], "not") != 0;
  for (size_t at = 0; argc > 2 && at < sizeof cases / sizeof *cases; ++at) {
    if (strcmp(cases[at].name, argv[1]) != 0) continue;
    cases[at].run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "no such case\n");
  MPI_Finalize();
  return 2;
}
