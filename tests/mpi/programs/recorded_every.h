/* Calls of every procedure whose bytes are counted, each with what the program itself knows that it
 * moves. tools/generate/recorded_every.py makes the callers, recorded_every.c has the rest. */
#ifndef RECORDED_EVERY_H
#define RECORDED_EVERY_H

#include "recorded.h"

enum {
  kMostRanks = 16,
  kBlock = 4096, /* elements between the parts of different ranks */
  kTag = 3,
  kPartitions = 3,
  kMore = 5 /* elements for which a receive has more room than comes */
};

/* What one call sends. What it receives are `taken` elements of MPI_INT. */
struct data {
  int count;
  MPI_Datatype type;
  int each; /* bytes of an element, less its holes */
  int per;  /* MPI_INTs in an element */
  MPI_Op op;
  MPI_Datatype element; /* of procedures that take just one */
  int element_bytes;
  int64_t bytes;
  int taken;
};

/* The same numbers in each type that an array of them may have. */
struct numbers {
  int ints[kMostRanks];
  MPI_Count counts[kMostRanks];
  MPI_Aint aints[kMostRanks];
  int64_t sum;
};

enum way {
  kPlain = 1,
  kInPlace = 2, /* MPI_IN_PLACE */
  kNobody = 4,  /* to and from MPI_PROC_NULL */
  kAtTheEnd = 8 /* of a file: a part can be read */
};

/* Where a procedure can be called. An intercommunicator is no place for kOrdered. */
enum kind { kMessage, kPartitioned, kCollective, kOrdered, kNeighbours, kRemote, kFile };

/* Where calls are made, and what a call's arguments are there. */
struct place {
  enum kind kind;
  int is_inter;
  MPI_Comm comm;
  int rank, size; /* in the own group */
  int root;
  int gives;   /* in a gather or reduction */
  int deals;   /* in a scatter */
  int is_idle; /* takes no part in a broadcast */
  int receivers, to[kMostRanks];
  int senders, from[kMostRanks];
  int next, before, next_in_world;
  MPI_Win win;
  MPI_File file;
  /* Of one call: */
  enum way way;
  int to_rank, from_rank;
  MPI_Offset offset;
  MPI_Status* status;
  int own;             /* elements that this rank has in a v-variant; some have none */
  struct numbers give; /* elements for each receiver */
  struct numbers deal; /* the same, alike on all ranks */
  struct numbers take; /* MPI_INTs from each sender */
  struct numbers all;  /* MPI_INTs that each sender has */
  struct numbers places, byte_places;
  MPI_Datatype types[kMostRanks], int_types[kMostRanks];
};

struct caller {
  const char* name;
  enum kind kind;
  int ways;
  void (*call)(const struct place* at, const struct data* of);
};

extern const struct caller every_caller[];
extern const int every_caller_count;
extern char every_out[], every_in[];

/* A receive for what the call sends. The others have posted theirs, too. */
MPI_Request every_expect(const struct place* at, const struct data* of);
void every_take(const struct place* at, const struct data* of, MPI_Request* receive);
/* A message that the call receives. */
MPI_Request every_offer(const struct place* at, const struct data* of);
MPI_Message every_probed(const struct place* at);
void every_wait(MPI_Request* request);
void every_start(MPI_Request* request);
void every_free(MPI_Request* request);
/* The call has sent `bytes` as one message. */
void every_sent(const struct place* at, int64_t bytes);
int64_t every_arrival(const struct place* at, const struct data* of);
void every_seek(const struct place* at);
void every_seek_shared(const struct place* at);
/* What a call reads of the file. */
int64_t every_read(const struct place* at, const struct data* of);
void every_lock(const struct place* at);
void every_unlock(const struct place* at);

/* `buffer`, or nothing where `is_here`. */
#define IN_PLACE(at, is_here, buffer) ((at)->way == kInPlace && (is_here) ? MPI_IN_PLACE : (buffer))

#endif
