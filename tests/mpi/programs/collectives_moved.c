/* Operations that move data: broadcast, gather to all, all to all. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives_data.h"

static int broadcast(const struct drawn* own, int rank, MPI_Comm comm) {
  const enum kind kind = kind_of(rank, own);
  int* const data = make_buffer(own->count, kind);
  int* const expected = make_buffer(own->count, kind);
  for (int i = 0; i < own->count; ++i) {
    put(expected, kind, i, given(own->root, own->call, i));
    if (rank == own->root) put(data, kind, i, given(own->root, own->call, i));
  }
  MPI_Bcast(data, own->count, types[kind], own->root, comm);
  const int right = is_same(data, expected, own->count, kind, "bcast", own);
  free(data);
  free(expected);
  return right;
}

static int gather_to_all(const struct drawn* own, int rank, int size, MPI_Comm comm) {
  const enum kind kind = kind_of(rank, own);
  const size_t all = (size_t)own->count * size;
  int* const send = make_given(own, rank, own->count, send_kind(rank, own));
  int* const received = make_buffer(all, kind);
  int* const expected = make_buffer(all, kind);
  for (int other = 0; other < size; ++other) {
    for (int i = 0; i < own->count; ++i) {
      const size_t place = (size_t)other * own->count + i;
      put(expected, kind, place, given(other, own->call, i));
      if (own->in_place && other == rank) put(received, kind, place, given(rank, own->call, i));
    }
  }
  MPI_Allgather(own->in_place ? MPI_IN_PLACE : send, own->count, types[send_kind(rank, own)],
                received, own->count, types[kind], comm);
  const int right = is_same(received, expected, all, kind, "allgather", own);
  free(send);
  free(received);
  free(expected);
  return right;
}

/* Blocks of any size, in reverse, with gaps between. */
static int gather_any_to_all(const struct drawn* own, int rank, int size, MPI_Comm comm) {
  /* MPICH works out from its own type's extent what parts the others send. */
  const enum kind kind = kind_of(0, own);
  int* const counts = malloc(2 * size * sizeof(int));
  int* const places = counts + size;
  int all = 0;
  for (int other = size - 1; other >= 0; --other) {
    counts[other] = (other * 5 + (int)own->call) % 4 == 0 ? 0 : own->count + other;
    places[other] = all;
    all += counts[other] + (int)(own->call % 3);
  }
  int* const send = make_given(own, rank, counts[rank], send_kind(rank, own));
  int* const received = make_buffer(all, kind);
  int* const expected = make_buffer(all, kind);
  for (int other = 0; other < size; ++other) {
    for (int i = 0; i < counts[other]; ++i) {
      put(expected, kind, places[other] + i, given(other, own->call, i));
      if (own->in_place && other == rank) {
        put(received, kind, places[other] + i, given(rank, own->call, i));
      }
    }
  }
  MPI_Allgatherv(own->in_place ? MPI_IN_PLACE : send, counts[rank], types[send_kind(rank, own)],
                 received, counts, places, types[kind], comm);
  const int right = is_same(received, expected, all, kind, "allgatherv", own);
  free(counts);
  free(send);
  free(received);
  free(expected);
  return right;
}

static int all_to_all(const struct drawn* own, int rank, int size, MPI_Comm comm) {
  const enum kind kind = kind_of(rank, own);
  const size_t all = (size_t)own->count * size;
  int* const send = make_given(own, rank, (int)all, send_kind(rank, own));
  int* const received =
      own->in_place ? make_given(own, rank, (int)all, kind) : make_buffer(all, kind);
  int* const expected = make_buffer(all, kind);
  for (int other = 0; other < size; ++other) {
    for (int i = 0; i < own->count; ++i) {
      put(expected, kind, (size_t)other * own->count + i,
          given(other, own->call, rank * own->count + i));
    }
  }
  MPI_Alltoall(own->in_place ? MPI_IN_PLACE : send, own->count, types[send_kind(rank, own)],
               received, own->count, types[kind], comm);
  const int right = is_same(received, expected, all, kind, "alltoall", own);
  free(send);
  free(received);
  free(expected);
  return right;
}

int move_data(int operation, const struct drawn* own, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  struct drawn mine = *own;
  mine.root = own->root % size;
  switch (operation) {
    case 0: return broadcast(&mine, rank, comm);
    case 1: return gather_to_all(&mine, rank, size, comm);
    case 2: return gather_any_to_all(&mine, rank, size, comm);
    default: return all_to_all(&mine, rank, size, comm);
  }
}
