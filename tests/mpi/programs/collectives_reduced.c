/* Operations that compute: reductions for all, or of which each rank gets a part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"

/* What all ranks give is a small number, so that no sum is rounded. */
static long given(int rank, const struct drawn* own, int i) {
  const long value = (long)(((unsigned)rank * 13u + own->call * 7u + (unsigned)i * 3u) % 7u);
  return own->reduction == 3 ? value % 2 + 1 : value; /* products */
}

static MPI_Datatype type_of(int index) {
  switch (index) {
    case 0: return MPI_INT;
    case 1: return MPI_DOUBLE;
    case 2: return MPI_LONG_LONG;
    case 3: return MPI_SHORT;
    case 4: return MPI_FLOAT;
    default: return MPI_UNSIGNED_CHAR;
  }
}

static void put(void* memory, int type, size_t i, long value) {
  switch (type) {
    case 0: ((int*)memory)[i] = (int)value; break;
    case 1: ((double*)memory)[i] = (double)value; break;
    case 2: ((long long*)memory)[i] = value; break;
    case 3: ((short*)memory)[i] = (short)value; break;
    case 4: ((float*)memory)[i] = (float)value; break;
    default: ((unsigned char*)memory)[i] = (unsigned char)value; break;
  }
}

/* Not commutative: the result is the last rank's number, times ten plus the first's. */
static void first_and_last(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  int* const left = in;
  int* const right = inout;
  for (int i = 0; i < *count; ++i) right[i] = left[i] / 10 * 10 + right[i] % 10;
}

static MPI_Op own_operation(void) {
  MPI_Op made = MPI_OP_NULL;
  MPI_Op_create(&first_and_last, 0, &made);
  return made;
}

static MPI_Op operation_of(int index) {
  switch (index) {
    case 0: return MPI_SUM;
    case 1: return MPI_MAX;
    case 2: return MPI_MIN;
    case 3: return MPI_PROD;
    case 4: return MPI_BXOR;
    default: return own_operation();
  }
}

static int is_of_integers(int reduction) {
  return reduction >= 4;
}

/* The program's own operation takes ints. */
static int type_for(const struct drawn* own) {
  if (own->reduction == 5) return 0;
  if (is_of_integers(own->reduction) && (own->type == 1 || own->type == 4)) return 2;
  return own->type;
}

static long given_to(int rank, const struct drawn* own, int i) {
  const long value = given(rank, own, i);
  return own->reduction == 5 ? value * 10 + value : value;
}

static long expected_of(int size, const struct drawn* own, int i) {
  long all = given_to(0, own, i);
  for (int rank = 1; rank < size; ++rank) {
    const long one = given_to(rank, own, i);
    switch (own->reduction) {
      case 0: all += one; break;
      case 1: all = one > all ? one : all; break;
      case 2: all = one < all ? one : all; break;
      case 3: all *= one; break;
      case 4: all ^= one; break;
      default: all = all / 10 * 10 + one % 10; break;
    }
  }
  return all;
}

static int check(const void* found, size_t first, size_t count, int size, int width,
                 const struct drawn* own, const char* what) {
  char* const expected = calloc(count + 1, width);
  for (size_t i = 0; i < count; ++i) {
    put(expected, type_for(own), i, expected_of(size, own, (int)(first + i)));
  }
  const int is_right = memcmp(found, expected, count * width) == 0;
  if (!is_right) {
    printf("%s: call %u, count %d, reduction %d, type %d: wrong\n", what, own->call, own->count,
           own->reduction, type_for(own));
  }
  free(expected);
  return is_right;
}

static void fill(void* memory, int rank, size_t count, const struct drawn* own) {
  for (size_t i = 0; i < count; ++i) put(memory, type_for(own), i, given_to(rank, own, (int)i));
}

static int reduce_to_all(const struct drawn* own, int rank, int size, MPI_Comm comm, MPI_Op op) {
  const MPI_Datatype type = type_of(type_for(own));
  int width = 0;
  MPI_Type_size(type, &width);
  char* const send = calloc(own->count + 1, width);
  char* const received = calloc(own->count + 1, width);
  fill(own->in_place ? received : send, rank, own->count, own);
  MPI_Allreduce(own->in_place ? MPI_IN_PLACE : send, received, own->count, type, op, comm);
  const int right = check(received, 0, own->count, size, width, own, "allreduce");
  free(send);
  free(received);
  return right;
}

static int reduce_to_root(const struct drawn* own, int rank, int size, MPI_Comm comm, MPI_Op op) {
  const MPI_Datatype type = type_of(type_for(own));
  int width = 0;
  MPI_Type_size(type, &width);
  char* const send = calloc(own->count + 1, width);
  const int root = own->root % size;
  const int is_root = rank == root;
  /* MPICH 4.0 ends the job where another root has some KiB in place. */
  const int in_place = own->in_place && is_root && (root == 0 || own->count < 100);
  /* Elsewhere it does not count, but Intel MPI writes that of a rank alone on its node. */
  char* const received = calloc(own->count + 1, width);
  fill(in_place ? received : send, rank, own->count, own);
  MPI_Reduce(in_place ? MPI_IN_PLACE : send, received, own->count, type, op, root, comm);
  const int right = !is_root || check(received, 0, own->count, size, width, own, "reduce");
  free(send);
  free(received);
  return right;
}

/* Blocks are alike, or of any size, none among them. */
static int scatter_reduced(const struct drawn* own, int rank, int size, MPI_Comm comm, MPI_Op op,
                           int are_alike) {
  const MPI_Datatype type = type_of(type_for(own));
  int width = 0;
  MPI_Type_size(type, &width);
  int* const counts = malloc(size * sizeof(int));
  size_t all = 0;
  size_t first = 0;
  for (int other = 0; other < size; ++other) {
    const int odd = (other * 3 + (int)own->call) % 4 == 0 ? 0 : own->count + other;
    counts[other] = are_alike ? own->count : odd;
    if (other < rank) first += counts[other];
    all += counts[other];
  }
  char* const send = calloc(all + 1, width);
  char* const received = calloc(all + 1, width);
  /* MPICH 5.0 ends the job where large blocks that differ are reduced in place. */
  const int in_place = own->in_place && (are_alike || all < 10000);
  fill(in_place ? received : send, rank, all, own);
  const void* const from = in_place ? MPI_IN_PLACE : send;
  if (are_alike) {
    MPI_Reduce_scatter_block(from, received, own->count, type, op, comm);
  } else {
    MPI_Reduce_scatter(from, received, counts, type, op, comm);
  }
  const int right = check(received, first, counts[rank], size, width, own,
                          are_alike ? "reduce_scatter_block" : "reduce_scatter");
  free(counts);
  free(send);
  free(received);
  return right;
}

int reduce_data(int operation, const struct drawn* own, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op = operation_of(own->reduction);
  int right = 0;
  if (operation == 0) {
    right = reduce_to_all(own, rank, size, comm, op);
  } else if (operation == 3) {
    right = reduce_to_root(own, rank, size, comm, op);
  } else {
    right = scatter_reduced(own, rank, size, comm, op, operation == 1);
  }
  if (own->reduction == 5) MPI_Op_free(&op);
  return right;
}
