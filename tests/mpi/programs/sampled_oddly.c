/* What a sampled program may do, and must come through as if nobody sampled it.
 *
 *     sampled_oddly WAY
 *
 * Prints "ok", or what went wrong, and works for two seconds or so.
 *   loads        children of a fork load a library; many threads work meanwhile
 *   stacks       it works on a stack of its own, above which memory is unmapped
 *   memory       no memory can be had after MPI_Init, and threads begin
 *   descriptors  what it opens after close(0) must be 0
 *   threads      thousands of short threads
 *   plugins      works in a library, unloads it, loads another one in its place */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile double sink;
static volatile int is_over;
static char problem[200] = "ok";

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void work(double seconds) {
  const double begin = now(CLOCK_THREAD_CPUTIME_ID);
  while (now(CLOCK_THREAD_CPUTIME_ID) - begin < seconds) {
    for (int i = 0; i < 100000; i++) sink = sink * 1.0000001 + 0.1;
  }
}

static void* work_on(void* unused) {
  (void)unused;
  while (!is_over) work(0.01);
  return NULL;
}

/* Waits ten seconds at most. */
static int ends(pid_t child) {
  for (int i = 0; i < 10000; i++) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status == 0;
    usleep(1000);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}

static void load_in_children(void) {
  enum { kThreads = 6 };
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work_on, NULL);
  const double begin = now(CLOCK_MONOTONIC);
  for (int i = 0; i < 1000 && now(CLOCK_MONOTONIC) - begin < 10; i++) {
    const pid_t child = fork();
    if (child == 0) _exit(dlopen("libanl.so.1", RTLD_NOW) == NULL);
    if (!ends(child)) {
      snprintf(problem, sizeof problem, "child %d failed or hung", i);
      break;
    }
  }
  is_over = 1;
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static ucontext_t outside, inside;
static void work_inside(void) {
  work(0.3);
}

static void* swap_stacks(void* unused) {
  (void)unused;
  enum { kStack = 64 << 10, kAll = 1 << 20 };
  for (int i = 0; i < 6; i++) {
    char* const memory =
        mmap(NULL, kAll, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int shrunk = 0; shrunk < 2; shrunk++) {
      getcontext(&inside);
      inside.uc_stack.ss_sp = memory;
      inside.uc_stack.ss_size = kStack;
      inside.uc_link = &outside;
      makecontext(&inside, work_inside, 0);
      swapcontext(&outside, &inside);
      if (!shrunk) munmap(memory + kStack, kAll - kStack);
    }
    munmap(memory, kStack);
  }
  return NULL;
}

static void swap_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, swap_stacks, NULL);
  pthread_join(thread, NULL);
}

/* All but what threads need is taken. */
static void run_out_of_memory(void) {
  enum { kThreads = 4, kStack = 256 << 10 };
  pthread_t threads[kThreads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  const struct rlimit none = {2 << 20, RLIM_INFINITY};
  struct rlimit before;
  getrlimit(RLIMIT_AS, &before);
  setrlimit(RLIMIT_AS, &none);
  work(0.5);
  const struct rlimit some = {before.rlim_cur, before.rlim_max};
  for (int i = 0; i < kThreads; i++) {
    setrlimit(RLIMIT_AS, &some);
    const int failed = pthread_create(&threads[i], &attributes, work_on, NULL);
    setrlimit(RLIMIT_AS, &none);
    if (failed) snprintf(problem, sizeof problem, "pthread_create: %s", strerror(failed));
  }
  work(1);
  is_over = 1;
  setrlimit(RLIMIT_AS, &some);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static void reopen_first(void) {
  const double begin = now(CLOCK_MONOTONIC);
  long count = 0;
  while (now(CLOCK_MONOTONIC) - begin < 3) {
    close(0);
    const int number = open("/dev/null", O_RDONLY);
    count += number != 0;
    if (number != 0) close(number);
  }
  if (count) snprintf(problem, sizeof problem, "%ld were not 0", count);
}

static void* begin_and_end(void* unused) {
  return unused;
}

static void begin_threads(void) {
  const double begin = now(CLOCK_MONOTONIC);
  for (int i = 0; i < 20000 && now(CLOCK_MONOTONIC) - begin < 5; i++) {
    pthread_t thread;
    const int failed = pthread_create(&thread, NULL, begin_and_end, NULL);
    if (failed) {
      snprintf(problem, sizeof problem, "pthread_create: %s", strerror(failed));
      return;
    }
    pthread_join(thread, NULL);
  }
}

/* Both have the function `work_in_plugin`, at the same place. */
static void swap_plugins(char** names) {
  void* places[2];
  for (int i = 0; i < 2; i++) {
    void* const library = dlopen(names[i], RTLD_NOW);
    if (library == NULL) {
      snprintf(problem, sizeof problem, "%.150s", dlerror());
      return;
    }
    void (*run)(double) = (void (*)(double))dlsym(library, "run_in_plugin");
    places[i] = (void*)run;
    run(1);
    dlclose(library);
  }
  if (places[0] != places[1]) snprintf(problem, sizeof problem, "they lie at different places");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const way = argv[1];
  if (strcmp(way, "loads") == 0) load_in_children();
  if (strcmp(way, "stacks") == 0) swap_in_thread();
  if (strcmp(way, "memory") == 0) run_out_of_memory();
  if (strcmp(way, "descriptors") == 0) reopen_first();
  if (strcmp(way, "threads") == 0) begin_threads();
  if (strcmp(way, "plugins") == 0) swap_plugins(argv + 2);
  printf("%s\n", problem);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
