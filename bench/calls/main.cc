// Times short MPI calls, which show what a layer adds to each.
//
//   calls [--blocks N] [--calls N]     rank 0 prints a line for each kind: KIND CALLS NANOSECONDS
//
// CALLS: how many calls one round of the kind has. NANOSECONDS: of one round in the fastest of many
// blocks, since whatever else the machine does only makes a block slower.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "common/failure.h"
#include "common/options.h"
#include "common/world.h"

namespace headrace::bench::calls {
namespace {

struct Peer {
  int rank;
  int to;    ///< the next rank of the ring
  int from;  ///< the one before
};

struct Kind {
  const char* name;
  int calls;
  void (*round)(const Peer& peer);
};

constexpr int kBytes = 8;

void ask_rank(const Peer&) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

void exchange(const Peer& peer) {
  double in = 0, out = 1;
  MPI_Sendrecv(&out, 1, MPI_DOUBLE, peer.to, 0, &in, 1, MPI_DOUBLE, peer.from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void exchange_by_requests(const Peer& peer) {
  double in = 0, out = 1;
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_DOUBLE, peer.from, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_DOUBLE, peer.to, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void reduce(const Peer&) {
  double in = 0, out = 1;
  static_assert(sizeof out == kBytes);
  MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

constexpr Kind kKinds[] = {
    {"MPI_Comm_rank", 1, &ask_rank},
    {"MPI_Sendrecv", 1, &exchange},
    {"MPI_Irecv+Isend+Waitall", 3, &exchange_by_requests},
    {"MPI_Allreduce", 1, &reduce},
};

/// Seconds of the fastest block.
double fastest(const Kind& kind, const Peer& peer, std::int64_t blocks, std::int64_t rounds) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t block = 0; block < blocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = node_clock();
    for (std::int64_t round = 0; round < rounds; ++round) kind.round(peer);
    least = std::min(least, node_clock() - begin);
  }
  return least;
}

int run(int argc, char** argv) {
  std::int64_t blocks = 100, rounds = 500;
  bool show_help = false;
  OptionParser parser("calls", "Times MPI calls of 8 bytes.",
                      {{'b', "blocks", &blocks, "blocks, of which the fastest counts", 1},
                       {'n', "calls", &rounds, "rounds of calls in a block", 1},
                       {'h', "help", &show_help, "print this text"}});
  parser.parse(argc, argv);
  Peer peer{};
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &peer.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (show_help) {
    if (peer.rank == 0) std::fputs(parser.help().c_str(), stdout);
    return 0;
  }
  peer.to = (peer.rank + 1) % size;
  peer.from = (peer.rank + size - 1) % size;
  for (const Kind& kind : kKinds) {
    const double seconds = fastest(kind, peer, blocks, rounds);
    if (peer.rank != 0) continue;
    std::printf("%s %d %.2f\n", kind.name, kind.calls, 1e9 * seconds / static_cast<double>(rounds));
  }
  return 0;
}

}  // namespace
}  // namespace headrace::bench::calls

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"calls", ""}, &headrace::bench::calls::run);
}
