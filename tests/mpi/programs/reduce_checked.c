/* MPI_Reduce against plain loops: any root, in place and not, a sum, and an operation that does not
 * commute, on elements with gaps between them and without.
 *
 *     reduce_checked
 *
 * Each rank prints "rank R: W of N calls wrong".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 3000, STRIDE = 6, UNTOUCHED = -77 };

/* Matrices of two rows, modulo a number, so that results are exact in any grouping. */
typedef struct {
  int m[4];
} Matrix;

static const int kModulus = 10007;

static Matrix product(const Matrix* a, const Matrix* b) {
  Matrix c;
  for (int i = 0; i < 4; ++i) {
    const long long first = (long long)a->m[i & 2] * b->m[i & 1];
    const long long second = (long long)a->m[(i & 2) + 1] * b->m[2 + (i & 1)];
    c.m[i] = (int)((first + second) % kModulus);
  }
  return c;
}

static int stride_of(MPI_Datatype type) {
  MPI_Aint begin, extent;
  MPI_Type_get_extent(type, &begin, &extent);
  return (int)(extent / (MPI_Aint)sizeof(int));
}

/* What comes from the ranks before is on the left. */
static void multiply(void* left, void* right, int* count, MPI_Datatype* type) {
  const int stride = stride_of(*type);
  for (int i = 0; i < *count; ++i) {
    const Matrix made =
        product((Matrix*)((int*)left + i * stride), (Matrix*)((int*)right + i * stride));
    memcpy((int*)right + i * stride, &made, sizeof made);
  }
}

static int value(int rank, int call, int i) {
  return (rank * 7919 + call * 104729 + i * 31 + 5) % 1000 + 1;
}

static int* filled(int rank, int call, int count, int stride) {
  int* data = malloc(sizeof(int) * (size_t)(count * stride + 1));
  for (int i = 0; i < count * stride; ++i)
    data[i] = i % stride < 4 ? value(rank, call, i) : UNTOUCHED;
  return data;
}

static int wrong(const int* got, int call, int count, int stride, int ranks, int is_product) {
  for (int i = 0; i < count; ++i) {
    Matrix expected;
    for (int rank = 0; rank < ranks; ++rank) {
      Matrix one;
      for (int j = 0; j < 4; ++j) one.m[j] = value(rank, call, i * stride + j);
      if (rank == 0)
        expected = one;
      else if (is_product)
        expected = product(&expected, &one);
      else
        for (int j = 0; j < 4; ++j) expected.m[j] += one.m[j];
    }
    if (memcmp(got + i * stride, &expected, sizeof expected) != 0) return 1;
    for (int j = 4; j < stride; ++j)
      if (got[i * stride + j] != UNTOUCHED) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype matrix, spread;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_create_resized(matrix, 0, STRIDE * sizeof(int), &spread);
  MPI_Type_commit(&matrix);
  MPI_Type_commit(&spread);
  MPI_Op times;
  MPI_Op_create(multiply, 0, &times);
  const int counts[] = {1, 2, 3, 17, 300, LARGEST};
  int calls = 0, failures = 0;
  for (int way = 0; way < 3; ++way) { /* a sum, matrices, matrices with gaps */
    const int stride = way == 2 ? STRIDE : 4;
    for (int root = 0; root < ranks; ++root) {
      for (size_t of = 0; of < sizeof counts / sizeof *counts; ++of, ++calls) {
        const int count = counts[of], is_in_place = calls % 2;
        int* sent = filled(rank, calls, count, stride);
        int* got = filled(is_in_place ? rank : -1, calls, count, stride);
        const void* from = rank == root && is_in_place ? MPI_IN_PLACE : sent;
        if (way == 0)
          MPI_Reduce(from, got, 4 * count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        else
          MPI_Reduce(from, got, count, way == 1 ? matrix : spread, times, root, MPI_COMM_WORLD);
        if (rank == root && wrong(got, calls, count, stride, ranks, way != 0)) {
          ++failures;
          printf("reduce: way %d, root %d, count %d, in place %d: wrong\n", way, root, count,
                 is_in_place);
        }
        free(sent);
        free(got);
      }
    }
  }
  printf("rank %d: %d of %d calls wrong\n", rank, failures, calls);
  MPI_Finalize();
  return failures != 0;
}
