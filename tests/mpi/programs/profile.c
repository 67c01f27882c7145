/* A program of known costs.
 *
 *     profile SECONDS [WAY]
 *
 * Each rank works for about SECONDS of CPU time in functions whose shares it measures by its CPU
 * clock. The last rank works twice as long in `heavy`. Each prints "RANK FUNCTION SECONDS".
 * WAY: what else it does.
 *   threads    a second thread works in `in_thread`, which never calls MPI
 *   regions    the phases are regions, and recording is off in the second one
 *   profiler   it has a profiling timer of its own (SIGPROF) and counts its signals
 *   blocked    it blocks all signals
 *   taken      it takes all real-time signals, after MPI_Init
 *   forks      it forks children that work, and that execute a program
 *   abort      it ends by abort()
 *   kill       it kills itself
 *   jumps      it works in a signal handler, and leaves it by a jump */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pat_api.h"

#define APART __attribute__((noinline, noclone))

static volatile double sink;
static const char* way = "";
static int rank;

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

/* The same work in each function, so that an iteration costs the same. */
static inline __attribute__((always_inline)) double spin(long count, double x) {
  for (long i = 0; i < count; i++) x = x * 1.0000001 + 0.0000001;
  return x;
}

APART static double heavy(long count) {
  return spin(count, 1) + sink;
}
APART static double light(long count) {
  return spin(count, 2) + sink;
}

/* What it calls stands in its place on the stack. */
APART static double last_call(long count) {
  return spin(count, 3) + sink;
}
APART static double tail_caller(long count) {
  sink = 1;
  return last_call(count);
}

/* Into a library, through the procedure linkage table. */
APART static double library_caller(long count) {
  double sum = 0;
  for (long i = 0; i < count / 16; i++) sum += tgamma(2.5 + sink * 1e-9 + i * 1e-9);
  return sum;
}

/* A frame of changing size. */
APART static double array_caller(long count) {
  double* const array = __builtin_alloca(64 + count % 64);
  array[0] = light(count);
  sink = array[0];
  return array[0] + 1;
}

static long per_second;

static void calibrate(void) {
  const long count = 20000000;
  const double begin = cpu();
  sink = spin(count, 1);
  per_second = (long)(count / (cpu() - begin));
}

static double spent[4];

APART static void step(double seconds) {
  const long count = (long)(per_second * seconds);
  double begin = cpu();
  sink = heavy(count / 2);
  spent[0] += cpu() - begin;
  begin = cpu();
  sink = array_caller(count * 3 / 10);
  spent[1] += cpu() - begin;
  begin = cpu();
  sink = tail_caller(count / 10);
  spent[2] += cpu() - begin;
  begin = cpu();
  sink = library_caller(count / 10);
  spent[3] += cpu() - begin;
}

static double thread_seconds;

APART static double in_thread(double seconds) {
  const double begin = cpu();
  while (cpu() - begin < seconds) sink = spin(1000000, 4);
  return cpu() - begin;
}

static void* run_thread(void* seconds) {
  thread_seconds = in_thread(*(double*)seconds);
  return NULL;
}

static volatile long signals;
static void count_signal(int number) {
  (void)number;
  signals++;
}

static sigjmp_buf place;
APART static void in_handler(void) {
  sink = spin(per_second / 10, 5);
}
static void work_and_jump(int number) {
  (void)number;
  in_handler();
  siglongjmp(place, 1);
}

static void be_odd(double seconds) {
  if (strcmp(way, "profiler") == 0) {
    signal(SIGPROF, count_signal);
    const struct itimerval each = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_PROF, &each, NULL);
  } else if (strcmp(way, "blocked") == 0) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
  } else if (strcmp(way, "taken") == 0) {
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) signal(number, count_signal);
  } else if (strcmp(way, "forks") == 0) {
    for (int i = 0; i < 3; i++) {
      const pid_t child = fork();
      if (child == 0) {
        sink = light(per_second / 20);
        if (i == 0) _exit(0);
        execlp("true", "true", (char*)NULL);
        _exit(1);
      }
      int status = 1;
      waitpid(child, &status, 0);
      if (status != 0) printf("%d a child failed: %d\n", rank, status);
    }
  } else if (strcmp(way, "jumps") == 0) {
    struct sigaction action = {0};
    action.sa_handler = work_and_jump;
    sigaction(SIGUSR2, &action, NULL);
    for (volatile int i = 0; i < seconds * 10; i++) {
      if (sigsetjmp(place, 1) == 0) raise(SIGUSR2);
    }
  }
}

APART static void work(double seconds) {
  const double begin = cpu();
  if (strcmp(way, "regions") == 0) {
    PAT_region_begin(1, "first");
    sink = heavy((long)(per_second * seconds / 2));
    PAT_region_end(1);
    PAT_region_begin(2, "second");
    PAT_record(PAT_STATE_OFF);
    sink = light((long)(per_second * seconds / 2));
    PAT_record(PAT_STATE_ON);
    PAT_region_end(2);
    PAT_region_begin(3, "third");
    sink = last_call((long)(per_second * seconds / 2));
    PAT_region_end(3);
    return;
  }
  while (cpu() - begin < seconds) step(0.02);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double seconds = atof(argv[1]);
  if (argc > 2) way = argv[2];
  calibrate();
  pthread_t thread;
  const int has_thread = strcmp(way, "threads") == 0;
  if (has_thread) pthread_create(&thread, NULL, run_thread, &seconds);
  be_odd(seconds);
  work(seconds);
  if (has_thread) pthread_join(thread, NULL);
  if (size > 1 && rank == size - 1 && way[0] == '\0') {
    const double begin = cpu();
    while (cpu() - begin < seconds / 2) sink = heavy(per_second / 50);
    spent[0] += cpu() - begin;
  }
  static const char* const names[] = {"heavy", "light", "last_call", "library_caller"};
  for (int i = 0; i < 4; i++) printf("%d %s %.6f\n", rank, names[i], spent[i]);
  if (has_thread) printf("%d in_thread %.6f\n", rank, thread_seconds);
  if (strcmp(way, "profiler") == 0) printf("%d signals %ld\n", rank, signals);
  fflush(stdout);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
