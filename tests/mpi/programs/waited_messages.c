// Ranks exchange messages in pairs and rings, and one after the other comes late. Each takes down
// by a clock of its own when its calls began and ended, when it sent and posted; rank 0 works out
// who waited for whom from all ranks' notes, and writes
//
//   wait PROCEDURE SECONDS     of all ranks
//   awaited RANK KIND SECONDS  1: to a send, 2: to a receive
//   messages MATCHED EARLY     received messages, and those sent before their receive was posted
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostCalls = 512, kMostParts = 4, kMostRanks = 16, kDelay = 4000000 /* ns */ };
enum { kLarge = 1 << 20 /* waits for its receiver under all libraries */ };

/// A message by which a call waited: the other rank and the message's number, alike on both.
struct Part {
  int peer;
  int number;
  int is_sent;
};
struct Call {
  int procedure;
  int part_count;
  struct Part parts[kMostParts];
  double begin, end;
};
/// When a message was sent, or its receive posted, by this rank.
struct Moment {
  int peer;
  int number;
  int is_sent;
  double time;
};
struct Notes {
  int calls, moments;
  struct Call call[kMostCalls];
  struct Moment moment[2 * kMostCalls];
};

static struct Notes notes;
static int rank, ranks;
static char out[kLarge], in[kLarge], second[kLarge];

enum { kSend, kRecv, kSendrecv, kWait, kWaitall, kWaitany, kSsend, kProcedures };
static const char* const kNames[kProcedures] = {
    "MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Ssend"};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest(void) {
  const struct timespec time = {0, kDelay};
  nanosleep(&time, NULL);
}

static void moment(int peer, int number, int is_sent, double time) {
  notes.moment[notes.moments++] = (struct Moment){peer, number, is_sent, time};
}

static struct Call* call(int procedure) {
  struct Call* const made = &notes.call[notes.calls++];
  made->procedure = procedure;
  made->begin = now();
  return made;
}

static void part(struct Call* one, int peer, int number, int is_sent) {
  one->parts[one->part_count++] = (struct Part){peer, number, is_sent};
}

static void end(struct Call* one) {
  one->end = now();
}

static void send(int procedure, int to, int number, int size, int tag, MPI_Comm comm) {
  struct Call* const own = call(procedure);
  moment(to, number, 1, own->begin);
  if (procedure == kSend) MPI_Send(out, size, MPI_BYTE, to, tag, comm);
  if (procedure == kSsend) MPI_Ssend(out, size, MPI_BYTE, to, tag, comm);
  end(own);
  part(own, to, number, 1);
}

static void receive(int from, int number, int size, int tag, MPI_Comm comm) {
  struct Call* const own = call(kRecv);
  moment(from, number, 0, own->begin);
  MPI_Recv(in, size, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
  end(own);
  part(own, from, number, 0);
}

// Numbers of messages between two ranks are those of the step that makes them.
static void pairs(int step, int size, int procedure, MPI_Comm comm) {
  const int peer = rank ^ 1;
  if (peer >= ranks) return;
  if (step % 3 == rank % 2) rest();
  const int tag = step % 2;
  if (rank % 2 == step / 4 % 2) {
    send(procedure, peer, step, size, tag, comm);
  } else {
    receive(step % 5 == 0 ? MPI_ANY_SOURCE : peer, step, size, tag, comm);
    notes.call[notes.calls - 1].parts[0].peer = peer;
    notes.moment[notes.moments - 1].peer = peer;
  }
}

static void ring(int step, int how, MPI_Comm comm) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  if (step % ranks == rank) rest();
  if (how == kSendrecv) {
    struct Call* const own = call(kSendrecv);
    moment(next, step, 1, own->begin);
    moment(before, step, 0, own->begin);
    MPI_Sendrecv(out, 64, MPI_BYTE, next, 5, in, 64, MPI_BYTE, before, 5, comm, MPI_STATUS_IGNORE);
    end(own);
    part(own, before, step, 0);
    return;
  }
  MPI_Request requests[4];
  moment(before, step, 0, now());
  MPI_Irecv(in, 64, MPI_BYTE, before, 6, comm, &requests[0]);
  moment(next, step + 1000, 0, now());
  MPI_Irecv(second, 64, MPI_BYTE, next, 7, comm, &requests[1]);
  moment(next, step, 1, now());
  MPI_Isend(out, 64, MPI_BYTE, next, 6, comm, &requests[2]);
  moment(before, step + 1000, 1, now());
  MPI_Isend(out, 64, MPI_BYTE, before, 7, comm, &requests[3]);
  struct Call* own;
  if (how == kWaitall) {
    own = call(kWaitall);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    end(own);
    part(own, before, step, 0);
    part(own, next, step + 1000, 0);
    return;
  }
  int index;
  own = call(kWaitany);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  end(own);
  part(own, index == 0 ? before : next, index == 0 ? step : step + 1000, 0);
  own = call(kWait);
  MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
  end(own);
  part(own, index == 1 ? before : next, index == 1 ? step : step + 1000, 0);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
}

static double moment_of(const struct Notes* all, int owner, int peer, int number, int is_sent) {
  const struct Notes* const theirs = all + owner;
  for (int i = 0; i < theirs->moments; ++i) {
    const struct Moment* const one = &theirs->moment[i];
    if (one->peer == peer && one->number == number && one->is_sent == is_sent) return one->time;
  }
  fprintf(stderr, "no moment of %d with %d, number %d\n", owner, peer, number);
  MPI_Abort(MPI_COMM_WORLD, 4);
  exit(4);
}

static void show(const struct Notes* all) {
  double waited[kProcedures] = {0}, awaited[kMostRanks][3] = {{0}};
  int matched = 0, early = 0;
  for (int own = 0; own < ranks; ++own) {
    for (int i = 0; i < all[own].calls; ++i) {
      const struct Call* const one = &all[own].call[i];
      double longest = 0;
      int whom = -1, kind = 0;
      for (int j = 0; j < one->part_count; ++j) {
        const struct Part* const each = &one->parts[j];
        const double when = moment_of(all, each->peer, own, each->number, !each->is_sent);
        double late = when - one->begin;
        // Only MPI_Ssend surely waits, and not for what came after its end.
        if (each->is_sent && (one->procedure != kSsend || when > one->end)) late = 0;
        if (late > one->end - one->begin) late = one->end - one->begin;
        if (late > longest) {
          longest = late;
          whom = each->peer;
          kind = each->is_sent ? 2 : 1;
        }
      }
      waited[one->procedure] += longest;
      if (whom >= 0) awaited[whom][kind] += longest;
    }
    for (int i = 0; i < all[own].moments; ++i) {
      const struct Moment* const one = &all[own].moment[i];
      if (one->is_sent) continue;
      matched += 1;
      early += moment_of(all, one->peer, own, one->number, 1) < one->time;
    }
  }
  for (int i = 0; i < kProcedures; ++i) printf("wait %s %.9f\n", kNames[i], waited[i]);
  for (int i = 0; i < ranks; ++i) {
    printf("awaited %d 1 %.9f\nawaited %d 2 %.9f\n", i, awaited[i][1], i, awaited[i][2]);
  }
  printf("messages %d %d\n", matched, early);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm copy;  // its messages must not be taken for those of MPI_COMM_WORLD
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int step = 0; step < 12; ++step) {
    pairs(step, step % 2 ? 16 : kLarge, kSend, step % 3 ? MPI_COMM_WORLD : copy);
    pairs(step + 100, 16, kSsend, copy);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 200; step < 212; ++step) ring(step, kSendrecv, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 300; step < 312; ++step) ring(step, kWaitall, step % 2 ? MPI_COMM_WORLD : copy);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 400; step < 412; ++step) ring(step, kWait, MPI_COMM_WORLD);
  MPI_Comm_free(&copy);
  struct Notes* const all = rank == 0 ? malloc((size_t)ranks * sizeof notes) : NULL;
  MPI_Gather(&notes, sizeof notes, MPI_BYTE, all, sizeof notes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) show(all);
  free(all);
  MPI_Finalize();
  return 0;
}
