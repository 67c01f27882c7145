// Functions of a library that the traced program calls: their arguments and results take every way
// that there is on x86-64.
#pragma once

#include <complex.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define COMPLEX _Complex
#else
#define COMPLEX _Complex
#endif

struct wide {
  double value[40];
};
struct pair {
  double x;
  long n;
};

double traced_many(int a, double b, int c, double d, int e, double f, int g, double h, int i,
                   double j, int k, double l, int m, double n, int o, double p, int q, double r,
                   int s, double t, long u, long v, long w, long x, long y, long z);
double traced_wide(struct wide given, int at, struct wide more);
struct wide traced_result(int seed);
struct pair traced_pair(double x, long n);
long double traced_long(long double x, long double y);
double COMPLEX traced_complex(double COMPLEX z);
__int128 traced_int128(__int128 a, __int128 b);
double traced_variadic(int count, ...);
long traced_sorted(long* numbers, size_t count, int (*compare)(const void*, const void*));
void traced_calls_back(void (*function)(void*), void* argument);
void traced_nothing(void);
/// What traced_busy has measured of itself, in seconds.
extern double traced_in_busy;
/// Computes for so many seconds.
void traced_busy(double seconds);
/// The same, and calls traced_busy for the second time.
void traced_outer(double own, double inner);
__attribute__((noipa)) long traced_recursive(int depth);
double traced_step(double x);
/// Computes, and calls traced_step so many times in between.
double traced_steps(long steps);

/// A name as the C library might have.
long send_halo(struct wide given, struct wide more);

#if defined(__AVX__)
typedef double vector __attribute__((vector_size(32)));
vector traced_vector(vector a, vector b);
#endif

#ifdef __cplusplus
}
#endif
