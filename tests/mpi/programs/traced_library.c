#include "traced_library.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

double traced_many(int a, double b, int c, double d, int e, double f, int g, double h, int i,
                   double j, int k, double l, int m, double n, int o, double p, int q, double r,
                   int s, double t, long u, long v, long w, long x, long y, long z) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
         12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t + 21. * u +
         22. * v + 23. * w + 24. * x + 25. * y + 26. * z;
}

double traced_wide(struct wide given, int at, struct wide more) {
  double sum = 0;
  // The arguments belong to the function: it may change them.
  for (int i = 0; i < 40; ++i) sum += (given.value[i] *= 2) * i;
  return sum + given.value[at] + more.value[0];
}

struct wide traced_result(int seed) {
  struct wide made;
  for (int i = 0; i < 40; ++i) made.value[i] = seed * 100 + i;
  return made;
}

struct pair traced_pair(double x, long n) {
  return (struct pair){x * 2, n * 3};
}

long double traced_long(long double x, long double y) {
  return x * 3 + y;
}

double _Complex traced_complex(double _Complex z) {
  return z * z;
}

__int128 traced_int128(__int128 a, __int128 b) {
  return a * b;
}

double traced_variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += i % 2 == 0 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return sum;
}

long traced_sorted(long* numbers, size_t count, int (*compare)(const void*, const void*)) {
  qsort(numbers, count, sizeof *numbers, compare);
  return numbers[0];
}

void traced_calls_back(void (*function)(void*), void* argument) {
  function(argument);
}

void traced_nothing(void) {}

__attribute__((no_instrument_function)) static double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

double traced_in_busy = 0;

void traced_busy(double seconds) {
  const double begin = wall_seconds();
  double now = begin;
  while (now < begin + seconds) now = wall_seconds();
  traced_in_busy += now - begin;
}

void traced_outer(double own, double inner) {
  const double end = wall_seconds() + own;
  while (wall_seconds() < end) {
  }
  traced_busy(inner);
}

long send_halo(struct wide given, struct wide more) {
  return (long)(given.value[39] + more.value[39]);
}

long traced_recursive(int depth) {
  if (depth == 0) return 1;
  const long inner = traced_recursive(depth - 1);
  __asm__ volatile("");  // so that it is no loop
  return inner + 1;
}

double traced_step(double x) {
  return x * 0.5;
}

double traced_steps(long steps) {
  double sum = 0;
  unsigned long own[4] = {1, 2, 3, 4};
  for (long i = 0; i < steps; ++i) {
    for (int k = 0; k < 60; ++k) {
      for (int n = 0; n < 4; ++n) own[n] = (own[n] ^ own[n] << 13) + (own[n] >> 7);
    }
    sum += traced_step((double)(own[0] ^ own[1] ^ own[2] ^ own[3]));
  }
  return sum;
}

#if defined(__AVX__)
vector traced_vector(vector a, vector b) {
  return a * b + a;
}
#endif
