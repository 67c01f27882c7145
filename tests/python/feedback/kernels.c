#include <math.h>
#include <stdlib.h>

static inline double square(double x) {
  return x * x;
}

void add(double* restrict to, const double* restrict from, long count) {
  for (long i = 0; i < count; i++) to[i] += square(from[i]);
}

double chain(const double* from, long count) {
  double x = 1;
  for (long i = 0; i < count; i++) {
    x = x * 0.5 + from[i];
  }
  return x;
}

void sines(double* to, long count) {
  for (long i = 0; i < count; i++) {
    to[i] = sin(to[i]);
  }
}

void interchanged(double a[restrict 512][512], double b[restrict 512][512]) {
  for (int j = 0; j < 512; j++) {
    for (int i = 0; i < 512; i++) {
      a[i][j] += b[i][j];
    }
  }
}

int four(const int* from) {
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    sum += from[i * 7] / (i + 1);
  }
  return sum;
}
