/* A plug-in whose function has the NAME that it was compiled with. */
#include <time.h>

static volatile double sink;

__attribute__((noinline)) void NAME(double seconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (int i = 0; i < 100000; i++) sink = sink * 1.0000001 + 0.1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
}

void run_in_plugin(double seconds) {
  NAME(seconds);
  sink = 0;
}
