/* Calls every procedure whose bytes are counted, with and without large counts, on communicators of
 * each kind, with several data.
 *
 *     recorded_every FILE [PROCEDURES:WHERE ...]
 *
 * PROCEDURES, a pattern, are not called WHERE: `nobody` (to MPI_PROC_NULL), `in_place`, `between`
 * (on intercommunicators), `anywhere`. Rank 0 prints a line "left out: NAME" for each procedure
 * that the MPI library lacks, or that is called nowhere. */
#define _GNU_SOURCE
#include "recorded_every.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPlaces = 16, kBuffer = kMostRanks * kBlock * 16, kOwnPart = 65536, kLast = 8 };

static int rank, size;
static char** spared; /* the arguments after the first */
char every_out[kBuffer], every_in[kBuffer];
static struct place places[kPlaces];
static int place_count;

MPI_Request every_expect(const struct place* at, const struct data* of) {
  MPI_Request made = MPI_REQUEST_NULL;
  if (at->way != kNobody) {
    CALL(MPI_Irecv, every_in, of->taken + kMore, MPI_INT, at->before, kTag, at->comm, &made);
  }
  CALL(MPI_Barrier, MPI_COMM_WORLD);
  return made;
}

void every_take(const struct place* at, const struct data* of, MPI_Request* receive) {
  every_wait(receive);
  if (at->way != kNobody) tally_arrival("MPI_Irecv", of->bytes);
}

MPI_Request every_offer(const struct place* at, const struct data* of) {
  MPI_Request made;
  SEND(MPI_Isend, of->bytes, every_out, of->taken, MPI_INT, at->to_rank, kTag, at->comm, &made);
  every_sent(at, of->bytes);
  return made;
}

MPI_Message every_probed(const struct place* at) {
  MPI_Message found;
  CALL(MPI_Mprobe, at->from_rank, kTag, at->comm, &found, MPI_STATUS_IGNORE);
  return found;
}

void every_wait(MPI_Request* request) {
  CALL(MPI_Wait, request, MPI_STATUS_IGNORE);
}

void every_start(MPI_Request* request) {
  CALL(MPI_Start, request);
}

void every_free(MPI_Request* request) {
  CALL(MPI_Request_free, request);
}

void every_sent(const struct place* at, int64_t bytes) {
  if (at->way != kNobody) tally_message(at->next_in_world, bytes);
}

int64_t every_arrival(const struct place* at, const struct data* of) {
  return at->way == kNobody ? 0 : of->bytes;
}

void every_seek(const struct place* at) {
  CALL(MPI_File_seek, at->file, at->offset, MPI_SEEK_SET);
}

void every_seek_shared(const struct place* at) {
  CALL(MPI_File_seek_shared, at->file, 0, MPI_SEEK_SET);
}

int64_t every_read(const struct place* at, const struct data* of) {
  return at->way == kAtTheEnd && of->bytes > kLast ? kLast : of->bytes;
}

void every_lock(const struct place* at) {
  CALL(MPI_Win_lock_all, 0, at->win);
}

void every_unlock(const struct place* at) {
  CALL(MPI_Win_unlock_all, at->win);
}

/* Where the call takes place. */

static struct place* add_place(enum kind kind, MPI_Comm comm) {
  if (place_count == kPlaces) abort();
  struct place* const made = &places[place_count++];
  made->kind = kind;
  made->comm = comm;
  made->gives = 1;
  CALL(MPI_Comm_test_inter, comm, &made->is_inter);
  CALL(MPI_Comm_rank, comm, &made->rank);
  CALL(MPI_Comm_size, comm, &made->size);
  made->receivers = made->size;
  if (made->is_inter) CALL(MPI_Comm_remote_size, comm, &made->receivers);
  made->senders = made->receivers;
  for (int i = 0; i < made->receivers; i++) made->to[i] = made->from[i] = i;
  made->next = (made->rank + 1) % made->size;
  made->before = (made->rank + made->size - 1) % made->size;
  made->next_in_world = made->next;
  return made;
}

static void add_collective(MPI_Comm comm, int root) {
  struct place* const all = add_place(kCollective, comm);
  all->root = root;
  all->deals = all->rank == root;
  add_place(kOrdered, comm);
}

/* Of the groups of even and odd ranks; `root_group`: whose first rank is the root. */
static void add_between(MPI_Comm comm, int root_group) {
  struct place* const made = add_place(kCollective, comm);
  const int is_of_root = rank % 2 == root_group;
  made->root = !is_of_root ? 0 : made->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  made->gives = !is_of_root;
  made->deals = made->root == MPI_ROOT;
  made->is_idle = made->root == MPI_PROC_NULL;
}

static void add_intercommunicator(MPI_Comm* half, MPI_Comm* inter) {
  CALL(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, rank, half);
  CALL(MPI_Intercomm_create, *half, 0, MPI_COMM_WORLD, 1 - rank % 2, kTag, inter);
  add_between(*inter, 0);
  add_between(*inter, 1);
  struct place* const pairs = add_place(kMessage, *inter);
  pairs->next = pairs->before = pairs->rank;
  pairs->next_in_world = rank ^ 1;
}

static struct place* add_neighbours(MPI_Comm comm) {
  struct place* const made = add_place(kNeighbours, comm);
  made->receivers = made->senders = 2;
  made->to[0] = made->from[0] = made->before;
  made->to[1] = made->from[1] = made->next;
  return made;
}

static void add_cartesian(MPI_Comm* made) {
  const int periods[] = {1};
  CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, &size, periods, 0, made);
  add_neighbours(*made);
}

/* A ring, in which a rank alone has itself, and one of two the other one, as its only neighbour. */
static void add_graph(MPI_Comm* made) {
  const int degree = size > 2 ? 2 : 1;
  int ends[kMostRanks], edges[2 * kMostRanks];
  for (int i = 0; i < size; i++) {
    ends[i] = degree * (i + 1);
    edges[degree * i] = (i + size - 1) % size;
    edges[degree * i + degree - 1] = (i + 1) % size;
  }
  CALL(MPI_Graph_create, MPI_COMM_WORLD, size, ends, edges, 0, made);
  struct place* const at = add_neighbours(*made);
  if (degree == 1) at->receivers = at->senders = 1;
}

/* Each rank sends to the next one, and rank 0 to all others. */
static void add_directed(MPI_Comm* made) {
  int to[kMostRanks], from[kMostRanks], out = 0, in = 0;
  to[out++] = (rank + 1) % size;
  from[in++] = (rank + size - 1) % size;
  for (int i = 2; rank == 0 && i < size; i++) to[out++] = i;
  if (rank > 1) from[in++] = 0;
  CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, in, from, MPI_UNWEIGHTED, out, to,
       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
  struct place* const at = add_neighbours(*made);
  at->receivers = out;
  at->senders = in;
  for (int i = 0; i < out; i++) at->to[i] = to[i];
  for (int i = 0; i < in; i++) at->from[i] = from[i];
}

static MPI_Win add_window(void) {
  static int memory[kBlock];
  MPI_Win made;
  CALL(MPI_Win_create, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &made);
  add_place(kRemote, MPI_COMM_WORLD)->win = made;
  return made;
}

static MPI_File add_file(const char* path) {
  MPI_File made;
  CALL(MPI_File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &made);
  SEND(MPI_File_write_at_all, kOwnPart, made, rank * kOwnPart, every_out, kOwnPart, MPI_BYTE,
       MPI_STATUS_IGNORE);
  CALL(MPI_File_sync, made);
  CALL(MPI_Barrier, MPI_COMM_WORLD);
  add_place(kFile, MPI_COMM_WORLD)->file = made;
  return made;
}

/* One call. */

static void fill(struct numbers* these, int length, const int* ranks, int more, int unit) {
  these->sum = 0;
  for (int i = 0; i < length; i++) {
    const int number = (ranks[i] + more) % 3 * unit;
    these->ints[i] = number;
    these->counts[i] = number;
    these->aints[i] = number;
    these->sum += number;
  }
}

static void prepare(struct place* at, const struct data* of, enum way way) {
  static MPI_Status status;
  at->way = way;
  at->status = at->status == MPI_STATUS_IGNORE ? &status : MPI_STATUS_IGNORE;
  at->to_rank = way == kNobody ? MPI_PROC_NULL : at->next;
  at->from_rank = way == kNobody ? MPI_PROC_NULL : at->before;
  at->offset = way == kAtTheEnd ? size * kOwnPart - kLast : rank * kOwnPart;
  at->own = at->rank % 3 * of->count;
  fill(&at->give, at->receivers, at->to, at->rank, of->count);
  fill(&at->deal, at->receivers, at->to, 0, of->count);
  fill(&at->take, at->senders, at->from, at->rank, of->taken);
  fill(&at->all, at->senders, at->from, 0, of->taken);
  for (int i = 0; i < kMostRanks; i++) {
    at->places.ints[i] = at->places.aints[i] = i * kBlock;
    at->byte_places.ints[i] = at->byte_places.aints[i] = i * kBlock * 16;
    at->types[i] = of->type;
    at->int_types[i] = MPI_INT;
  }
}

static int is_spared(const char* procedure, const char* where) {
  for (char** one = spared; *one != NULL; one++) {
    char text[128];
    snprintf(text, sizeof text, "%s", *one);
    char* const colon = strchr(text, ':');
    if (colon == NULL) abort();
    *colon = 0;
    if (strcmp(colon + 1, where) == 0 && fnmatch(text, procedure, 0) == 0) return 1;
  }
  return 0;
}

static int is_allowed(const struct caller* caller, const struct place* at, enum way way) {
  if (!(caller->ways & way) || (way == kInPlace && at->is_inter)) return 0;
  if (way == kNobody && is_spared(caller->name, "nobody")) return 0;
  if (way == kInPlace && is_spared(caller->name, "in_place")) return 0;
  return !at->is_inter || !is_spared(caller->name, "between");
}

static void call_everywhere(const struct caller* caller, const struct data* of) {
  for (int i = 0; i < place_count; i++) {
    struct place* const at = &places[i];
    if (at->kind != caller->kind) continue;
    for (enum way way = kPlain; way <= kAtTheEnd; way = 2 * way) {
      if (!is_allowed(caller, at, way)) continue;
      prepare(at, of, way);
      caller->call(at, of);
    }
  }
}

static void keep_first(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

static void call_all(void) {
  MPI_Datatype pair, spread;
  MPI_Op op;
  CALL(MPI_Type_vector, 2, 1, 2, MPI_INT, &pair);
  CALL(MPI_Type_create_resized, pair, 0, 16, &spread);
  CALL(MPI_Type_commit, &spread);
  CALL(MPI_Op_create, keep_first, 1, &op);
  const struct data data[] = {
      {3, MPI_INT, 4, 1, MPI_SUM, MPI_INT, 4, 12, 3},
      {50, spread, 8, 2, op, MPI_INT64_T, 8, 400, 100},
      {0, MPI_INT, 4, 1, MPI_SUM, MPI_INT, 4, 0, 0},
  };
  for (int i = 0; i < every_caller_count; i++) {
    const char* const name = every_caller[i].name;
    if (dlsym(RTLD_DEFAULT, name) == NULL || is_spared(name, "anywhere")) {
      if (rank == 0) printf("left out: %s\n", name);
      continue;
    }
    for (unsigned j = 0; j < sizeof data / sizeof *data; j++) {
      call_everywhere(&every_caller[i], &data[j]);
    }
  }
  CALL(MPI_Op_free, &op);
  CALL(MPI_Type_free, &spread);
  CALL(MPI_Type_free, &pair);
}

static void free_all(MPI_Comm* comms, int length) {
  for (int i = 0; i < length; i++) {
    if (comms[i] != MPI_COMM_NULL) CALL(MPI_Comm_free, &comms[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  spared = argv + 2;
  CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
  CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
  MPI_Comm turned, grid, graph, directed, between[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Win window = MPI_WIN_NULL;
  static char attached[1 << 20];
  CALL(MPI_Buffer_attach, attached, (int)sizeof attached);
  add_place(kMessage, MPI_COMM_WORLD);
  add_place(kPartitioned, MPI_COMM_WORLD);
  add_collective(MPI_COMM_WORLD, 0);
  CALL(MPI_Comm_split, MPI_COMM_WORLD, 0, -rank, &turned);
  struct place* const messages = add_place(kMessage, turned);
  messages->next_in_world = size - 1 - messages->next;
  add_collective(turned, size / 2);
  if (size % 2 == 0) add_intercommunicator(&between[0], &between[1]);
  add_cartesian(&grid);
  add_graph(&graph);
  add_directed(&directed);
  if (size > 1) {
    window = add_window();
  } else { /* Open MPI 4 refuses windows of one process on some machines */
    printf("left out: one-sided communication\n");
  }
  MPI_File file = add_file(argv[1]);
  call_all();
  void* detached;
  int length;
  CALL(MPI_Buffer_detach, &detached, &length);
  CALL(MPI_File_close, &file);
  if (size > 1) CALL(MPI_Win_free, &window);
  free_all(between, 2);
  free_all((MPI_Comm[]){turned, grid, graph, directed}, 4);
  tally_call("MPI_Finalize");
  tally_print(argv[1], rank);
  MPI_Finalize();
  return 0;
}
