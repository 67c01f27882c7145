/* Data of collective calls: plain, with gaps and a negative lower bound, or of bytes. */
#include "collectives_data.h"

#include <stdio.h>
#include <stdlib.h>

#define GAP 3 /* ints from one element with gaps to the next */
#define HOLE 0x5a5a5a5a

MPI_Datatype types[KINDS];

static int have_gaps;

void make_types(int with_gaps) {
  have_gaps = with_gaps;
  types[PLAIN] = MPI_INT;
  MPI_Type_create_resized(MPI_INT, -(MPI_Aint)sizeof(int), GAP * sizeof(int), &types[GAPPED]);
  MPI_Type_commit(&types[GAPPED]);
  MPI_Type_contiguous(sizeof(int), MPI_BYTE, &types[BYTES]);
  MPI_Type_commit(&types[BYTES]);
}

void free_types(void) {
  MPI_Type_free(&types[GAPPED]);
  MPI_Type_free(&types[BYTES]);
}

/* Bytes do not match ints, so a call has either. */
enum kind kind_of(int rank, const struct drawn* own) {
  if (own->type == 0) return BYTES;
  return have_gaps && (rank * 7u + own->call) % 3 == 0 ? GAPPED : PLAIN;
}

static size_t stride_of(enum kind kind) {
  return kind == GAPPED ? GAP : 1;
}

size_t distance_of(enum kind kind) {
  return stride_of(kind) * sizeof(int);
}

int given(int rank, unsigned call, int i) {
  return (int)((unsigned)rank * 1000003u + call * 7919u + (unsigned)i * 31u);
}

/* Memory for elements, all of it holes. */
int* make_buffer(size_t elements, enum kind kind) {
  const size_t ints = elements * stride_of(kind) + 1;
  int* const made = malloc(ints * sizeof(int));
  for (size_t i = 0; i < ints; ++i) made[i] = HOLE;
  return made;
}

void put(int* buffer, enum kind kind, size_t element, int value) {
  buffer[element * stride_of(kind)] = value;
}

int is_same(const int* found, const int* expected, size_t elements, enum kind kind,
            const char* what, const struct drawn* own) {
  const size_t ints = elements * stride_of(kind) + 1;
  for (size_t i = 0; i < ints; ++i) {
    if (found[i] == expected[i]) continue;
    printf("%s: call %u, count %d, kind %d: int %zu of %zu is %d, not %d\n", what, own->call,
           own->count, (int)kind, i, ints, found[i], expected[i]);
    return 0;
  }
  return 1;
}

/* What this rank gives, of `count` elements. */
int* make_given(const struct drawn* own, int rank, int count, enum kind kind) {
  int* const made = make_buffer(count, kind);
  for (int i = 0; i < count; ++i) put(made, kind, i, given(rank, own->call, i));
  return made;
}

/* A rank's kind when it sends need not be that when it receives. */
enum kind send_kind(int rank, const struct drawn* own) {
  return kind_of(rank + 1, own);
}
