/* Operations with blocks of each pair of ranks: gather, scatter, all to all with sizes that differ.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives_data.h"

/* Elements from one rank for another; in place the same in both directions. */
static int count_of(const struct drawn* own, int from, int to, int is_alike, int in_place) {
  if (is_alike) return own->count;
  if (in_place && from > to) return count_of(own, to, from, is_alike, in_place);
  if ((from * 5 + to * 3 + (int)own->call) % 4 == 0) return 0;
  return own->count / (1 + (from + to + (int)own->call) % 3) + (from * 7 + to) % 5;
}

/* One side of a call: blocks for all ranks, in reverse and with gaps, unless they are alike. */
struct side {
  int size;
  int* counts;
  int* places; /* in elements */
  enum kind* kinds;
  int all; /* elements of the buffer */
};

static struct side make_side(const struct drawn* own, int rank, int size, int sends, int is_alike,
                             int in_place) {
  struct side made = {.size = size};
  made.counts = malloc(2 * size * sizeof(int));
  made.places = made.counts + size;
  made.kinds = malloc(size * sizeof(enum kind));
  for (int i = size - 1; i >= 0; --i) {
    made.counts[i] = sends ? count_of(own, rank, i, is_alike, in_place)
                           : count_of(own, i, rank, is_alike, in_place);
    made.places[i] = is_alike ? i * own->count : made.all;
    made.kinds[i] = sends ? send_kind(rank, own) : kind_of(rank, own);
    made.all += made.counts[i] + (is_alike ? 0 : (int)(own->call % 3));
  }
  return made;
}

static void free_side(struct side* side) {
  free(side->counts);
  free(side->kinds);
}

static void put_block(const struct drawn* own, int* buffer, const struct side* side, int with,
                      int from, int to) {
  for (int i = 0; i < side->counts[with]; ++i) {
    put(buffer, side->kinds[with], side->places[with] + i, given(from, own->call + to * 11, i));
  }
}

/* The root's buffer as it is, and as it has to be in the end. */
static int gather(const struct drawn* own, int rank, int size, MPI_Comm comm, int is_alike) {
  const int is_root = rank == own->root;
  struct side all = make_side(own, own->root, size, 0, is_alike, 0);
  const enum kind kind = kind_of(rank, own);
  const enum kind sent_kind = send_kind(rank, own);
  for (int i = 0; i < size; ++i) all.kinds[i] = kind;
  const int mine = all.counts[rank];
  int* const send = make_buffer(mine, sent_kind);
  int* const received = make_buffer(all.all, kind);
  int* const expected = make_buffer(all.all, kind);
  for (int i = 0; i < mine; ++i) {
    put(send, sent_kind, i, given(rank, own->call + own->root * 11, i));
  }
  const int in_place = is_root && own->in_place;
  for (int i = 0; is_root && i < size; ++i) put_block(own, expected, &all, i, i, rank);
  if (in_place) put_block(own, received, &all, rank, rank, rank);
  const void* const from = in_place ? MPI_IN_PLACE : send;
  /* What is not significant is not looked at. */
  void* const to = is_root ? received : NULL;
  const MPI_Datatype type = is_root ? types[kind] : MPI_DATATYPE_NULL;
  if (is_alike) {
    MPI_Gather(from, mine, types[sent_kind], to, is_root ? own->count : -5, type, own->root, comm);
  } else {
    MPI_Gatherv(from, mine, types[sent_kind], to, is_root ? all.counts : NULL,
                is_root ? all.places : NULL, type, own->root, comm);
  }
  const int right =
      is_same(received, expected, all.all, kind, is_alike ? "gather" : "gatherv", own);
  free(send);
  free(received);
  free(expected);
  free_side(&all);
  return right;
}

static int scatter(const struct drawn* own, int rank, int size, MPI_Comm comm, int is_alike) {
  const int is_root = rank == own->root;
  struct side all = make_side(own, own->root, size, 1, is_alike, 0);
  const enum kind kind = kind_of(rank, own);
  const enum kind sent_kind = send_kind(rank, own);
  for (int i = 0; i < size; ++i) all.kinds[i] = sent_kind;
  const int mine = all.counts[rank];
  int* const send = make_buffer(all.all, sent_kind);
  int* const received = make_buffer(mine, kind);
  int* const expected = make_buffer(mine, kind);
  for (int i = 0; is_root && i < size; ++i) put_block(own, send, &all, i, rank, i);
  const int in_place = is_root && own->in_place;
  for (int i = 0; !in_place && i < mine; ++i) {
    put(expected, kind, i, given(own->root, own->call + rank * 11, i));
  }
  void* const to = in_place ? MPI_IN_PLACE : received;
  const void* const from = is_root ? send : NULL;
  const MPI_Datatype type = is_root ? types[sent_kind] : MPI_DATATYPE_NULL;
  if (is_alike) {
    MPI_Scatter(from, is_root ? own->count : -5, type, to, mine, types[kind], own->root, comm);
  } else {
    MPI_Scatterv(from, is_root ? all.counts : NULL, is_root ? all.places : NULL, type, to, mine,
                 types[kind], own->root, comm);
  }
  const int right = is_same(received, expected, mine, kind, is_alike ? "scatter" : "scatterv", own);
  free(send);
  free(received);
  free(expected);
  free_side(&all);
  return right;
}

static int all_to_all(const struct drawn* own, int rank, int size, MPI_Comm comm, int has_types) {
  struct side to = make_side(own, rank, size, 1, 0, own->in_place);
  struct side from = make_side(own, rank, size, 0, 0, own->in_place);
  /* One memory has elements at one distance. */
  const enum kind kind = from.kinds[0];
  const enum kind sent_kind = to.kinds[0];
  int* const send = make_buffer(to.all, sent_kind);
  int* const received = make_buffer(from.all, kind);
  int* const expected = make_buffer(from.all, kind);
  for (int i = 0; i < size; ++i) {
    put_block(own, send, &to, i, rank, i);
    put_block(own, expected, &from, i, i, rank);
    if (own->in_place) put_block(own, received, &from, i, rank, i);
  }
  const void* const given_at = own->in_place ? MPI_IN_PLACE : send;
  if (has_types) {
    int* const send_bytes = malloc(size * sizeof(int));
    int* const bytes = malloc(size * sizeof(int));
    MPI_Datatype* const send_types = malloc(size * sizeof(MPI_Datatype));
    MPI_Datatype* const receive_types = malloc(size * sizeof(MPI_Datatype));
    for (int i = 0; i < size; ++i) {
      send_bytes[i] = to.places[i] * (int)distance_of(sent_kind);
      bytes[i] = from.places[i] * (int)distance_of(kind);
      send_types[i] = types[sent_kind];
      receive_types[i] = types[kind];
    }
    MPI_Alltoallw(given_at, to.counts, send_bytes, send_types, received, from.counts, bytes,
                  receive_types, comm);
    free(send_bytes);
    free(bytes);
    free(send_types);
    free(receive_types);
  } else {
    MPI_Alltoallv(given_at, to.counts, to.places, types[sent_kind], received, from.counts,
                  from.places, types[kind], comm);
  }
  const int right =
      is_same(received, expected, from.all, kind, has_types ? "alltoallw" : "alltoallv", own);
  free(send);
  free(received);
  free(expected);
  free_side(&to);
  free_side(&from);
  return right;
}

int exchange_data(int operation, const struct drawn* own, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  struct drawn mine = *own;
  mine.root = own->root % size;
  switch (operation) {
    case 0: return gather(&mine, rank, size, comm, 1);
    case 1: return gather(&mine, rank, size, comm, 0);
    case 2: return scatter(&mine, rank, size, comm, 1);
    case 3: return scatter(&mine, rank, size, comm, 0);
    default: return all_to_all(&mine, rank, size, comm, operation == 5);
  }
}
