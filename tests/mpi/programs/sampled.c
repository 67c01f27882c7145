/* Cases for advice from samples: each spends CPU time in one way that costs, or if the second
   argument is "not" about as much in another way. How it is compiled belongs to some of them
   (tests/mpi/test_profile_advice.py).

       sampled CASE bad|not
       sampled CASE bad|mended STEPS

   With STEPS each does so much work, however long it takes, and "mended" does most of it as the
   advice says (bench/advice/gain.py). */
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

static int rank, ranks, is_bad, is_mended;
static long steps; /* 0: as many as take the time */
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

/* Eight chains, which need each other only at the end. */
APART static double eight_chains(void) {
  double x[8] = {1}, sum = 0;
  for (int i = 0; i < 4096; i += 8) {
    for (int k = 0; k < 8; k++) x[k] = x[k] * 0.5 + numbers[i + k];
  }
  for (int k = 0; k < 8; k++) sum += x[k];
  return sum;
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

APART static double sines_of_floats(void) {
  float sum = 0;
  for (int i = 0; i < 1000; i++)
    sum += sinf((float)i + (float)sink * 1e-9f) * expf(-(float)i * 1e-3f);
  return (double)sum;
}

/* Works itself as in the reference BLAS, or calls a kernel as in others. */
APART double dgemm_(void) {
  if (!is_bad) return eight_chains() + 1;
  double x = 1;
  for (int i = 0; i < 4096; i++) x = x * 0.5 + others[i];
  return x;
}

static double allocate(int often) {
  for (int i = 0; i < 1000; i++) {
    if (i % often != 0 && blocks[i % 64] != NULL) continue;
    free(blocks[i % 64]);
    blocks[i % 64] = malloc((size_t)(2000 + 40 * (i * 7 % 64)));
  }
  return sink;
}

APART static double allocated(void) {
  return allocate(1);
}

/* Most blocks are used again. */
APART static double kept(void) {
  return allocate(5);
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

static double all_steps(double (*work)(void), long count) {
  for (long i = 0; i < count; i++) sink = work();
  return sink;
}

/* Most steps use the pages of the one before. */
APART static double mapped_seldom(void) {
  static char* made;
  static long step;
  const size_t size = 16 << 20;
  if (step++ % 5 == 0) return mapped();
  if (made == NULL) made = malloc(size);
  if (made == NULL) return 0;
  for (size_t at = 0; at < size; at += 4096) made[at] = 1;
  sink = made[size / 2];
  return sink;
}

static void repeat(double (*work)(void), double seconds) {
  const double begin = cpu();
  if (steps > 0) {
    all_steps(work, (long)((double)steps * seconds / SECONDS));
    return;
  }
  while (cpu() - begin < seconds) sink = work();
}

static void unoptimised_code(void) {
  repeat(plain, SECONDS);
}
/* The flawed way, another one, or the mended one. */
static void repeat_one(double (*bad)(void), double (*other)(void), double (*mended)(void)) {
  repeat(is_bad ? bad : is_mended ? mended : other, SECONDS);
}

static void unvectorised_loop(void) {
  repeat_one(chain, added, eight_chains);
}
static void uneven_function(void) {
  const double share = is_mended ? (1 + (ranks - 1) / 5.0) / ranks : rank == ranks - 1 ? 1 : 0.2;
  repeat(plain, is_bad || is_mended ? SECONDS * share : SECONDS);
}
static void allocation(void) {
  repeat_one(allocated, plain, kept);
}
static void kernel_time(void) {
  repeat_one(mapped, plain, mapped_seldom);
}
static void scalar_mathematics(void) {
  repeat_one(sines, plain, sines_of_floats);
}

static void reference_blas(void) {
  repeat(dgemm_, SECONDS);
}

static pthread_spinlock_t lock;

/* The mended one locks for its results only. */
static void* hold(void* none) {
  const double begin = cpu();
  for (long i = 0; steps > 0 ? i < steps : cpu() - begin < SECONDS; i++) {
    if (is_bad) pthread_spin_lock(&lock);
    const double made = plain();
    if (is_mended) pthread_spin_lock(&lock);
    sink = made;
    if (is_bad || is_mended) pthread_spin_unlock(&lock);
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
    return;
  }
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  steps /= 2;
  in_two_threads();
}

/* Ranks are late in turn, so that their sums are alike. The mended one has no barrier. */
static void spinning_in_mpi(void) {
  for (int step = 0; step < 20; ++step) {
    if ((!is_bad && !is_mended) || step % ranks == rank) repeat(plain, SECONDS / 10);
    if (is_bad) MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Ranks that meet often: how they are started is what costs. */
static void meeting(void) {
  for (long step = 0; step < 200; ++step) {
    repeat(plain, SECONDS / 200);
    MPI_Allreduce(MPI_IN_PLACE, (void*)&sink, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

struct named {
  const char* name;
  void (*run)(void);
};

static const struct named cases[] = {
    {"unoptimised-code", unoptimised_code},
    {"unvectorised-loop", unvectorised_loop},
    {"uneven-function", uneven_function},
    {"allocation", allocation},
    {"locks", locks},
    {"kernel-time", kernel_time},
    {"one-thread", one_thread},
    {"scalar-mathematics", scalar_mathematics},
    {"reference-blas", reference_blas},
    {"spinning-in-mpi", spinning_in_mpi},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_mended = argc > 2 && strcmp(argv[2], "mended") == 0;
  is_bad = argc < 3 || (strcmp(argv[2], "not") != 0 && !is_mended);
  steps = argc > 3 ? atol(argv[3]) : 0;
  if (argc > 2 && strcmp("meeting", argv[1]) == 0) {
    meeting();
    MPI_Finalize();
    return 0;
  }
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
