#include "collectives/operation.h"

#include <algorithm>
#include <array>

#include "common/failure.h"

namespace headrace::bench::collectives {
namespace {

/// By the numbers of Cell::Kind.
constexpr std::array<std::string_view, 15> kNames = {
    "barrier",   "bcast",          "reduce",
    "allreduce", "allgather",      "allgatherv",
    "alltoall",  "reduce_scatter", "reduce_scatter_block",
    "gather",    "gatherv",        "scatter",
    "scatterv",  "alltoallv",      "alltoallw"};

/// What a rank sends at a place in a call.
double value(int rank, std::size_t place, std::int64_t number) {
  return static_cast<double>(rank * 1009 + static_cast<std::int64_t>(place % 4093) +
                             number % 65536 * 7);
}

}  // namespace

std::vector<std::string> operation_names() {
  return {kNames.begin(), kNames.end()};
}

Cell::Kind Cell::kind_of(std::string_view operation) {
  return static_cast<Kind>(std::ranges::find(kNames, operation) - kNames.begin());
}

bool Cell::gives_all(Kind kind, bool is_root) {
  return is_all_to_all(kind) || (scatters(kind) && is_root) || kind == Kind::reduce_scatter ||
         kind == Kind::reduce_scatter_block;
}

bool Cell::gets_all(Kind kind, bool is_root) {
  return is_all_to_all(kind) || (gathers(kind) && is_root) || kind == Kind::allgather ||
         kind == Kind::allgatherv;
}

std::int64_t Cell::most_blocks(std::string_view operation, int ranks) {
  const Kind kind = kind_of(operation);
  return gives_all(kind, true) || gets_all(kind, true) ? ranks : 1;
}

std::int64_t Cell::memory_of(const World& world, std::string_view operation, std::int64_t bytes) {
  const Kind kind = kind_of(operation);
  const bool is_root = world.rank == 0;
  const std::int64_t all = bytes * world.size;
  return (gives_all(kind, is_root) ? all : bytes) + (gets_all(kind, is_root) ? all : bytes);
}

Cell::Cell(const World& world, std::string_view operation, std::int64_t bytes)
    : world_(world),
      kind_(kind_of(operation)),
      count_(static_cast<std::size_t>(bytes) / sizeof(double)) {
  const auto ranks = static_cast<std::size_t>(world.size);
  const bool is_root = world.rank == 0;
  const std::size_t all = count_ * ranks;
  agree_on_memory(world.communicator, "the buffers", [&] {
    send_.resize(gives_all(kind_, is_root) ? all : count_);
    receive_.resize(gets_all(kind_, is_root) ? all : count_);
    counts_.assign(ranks, static_cast<int>(count_));
    places_.resize(ranks);
    offsets_.resize(ranks);
    types_.assign(ranks, MPI_DOUBLE);
  });
  for (std::size_t i = 0; i < ranks; ++i) {
    places_[i] = static_cast<int>(i * count_);
    offsets_[i] = static_cast<int>(i * count_ * sizeof(double));
  }
}

bool Cell::is_all_to_all(Kind kind) {
  return kind == Kind::alltoall || kind == Kind::alltoallv || kind == Kind::alltoallw;
}

bool Cell::reduces() const {
  return kind_ == Kind::allreduce || kind_ == Kind::reduce || kind_ == Kind::reduce_scatter ||
         kind_ == Kind::reduce_scatter_block;
}

void Cell::fill(std::int64_t number) {
  // A broadcast has one buffer: that of the others is to be overwritten.
  std::vector<double>& data = kind_ == Kind::bcast ? receive_ : send_;
  const int sender = kind_ == Kind::bcast && world_.rank != 0 ? -1 : world_.rank;
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(sender, i, number);
}

void Cell::call(const Functions& functions) {
  const MPI_Comm comm = world_.communicator;
  const int count = static_cast<int>(count_);
  const MPI_Datatype type = MPI_DOUBLE;
  const double* const send = send_.data();
  double* const receive = receive_.data();
  switch (kind_) {
    case Kind::barrier: functions.barrier(comm); break;
    case Kind::bcast: functions.bcast(receive, count, type, 0, comm); break;
    case Kind::allreduce: functions.allreduce(send, receive, count, type, MPI_SUM, comm); break;
    case Kind::allgather: functions.allgather(send, count, type, receive, count, type, comm); break;
    case Kind::allgatherv:
      functions.allgatherv(send, count, type, receive, counts_.data(), places_.data(), type, comm);
      break;
    case Kind::alltoall: functions.alltoall(send, count, type, receive, count, type, comm); break;
    case Kind::reduce_scatter:
      functions.reduce_scatter(send, receive, counts_.data(), type, MPI_SUM, comm);
      break;
    case Kind::reduce_scatter_block:
      functions.reduce_scatter_block(send, receive, count, type, MPI_SUM, comm);
      break;
    case Kind::gather: functions.gather(send, count, type, receive, count, type, 0, comm); break;
    case Kind::gatherv:
      functions.gatherv(send, count, type, receive, counts_.data(), places_.data(), type, 0, comm);
      break;
    case Kind::scatter: functions.scatter(send, count, type, receive, count, type, 0, comm); break;
    case Kind::scatterv:
      functions.scatterv(send, counts_.data(), places_.data(), type, receive, count, type, 0, comm);
      break;
    case Kind::alltoallv:
      functions.alltoallv(send, counts_.data(), places_.data(), type, receive, counts_.data(),
                          places_.data(), type, comm);
      break;
    case Kind::alltoallw:
      functions.alltoallw(send, counts_.data(), offsets_.data(), types_.data(), receive,
                          counts_.data(), offsets_.data(), types_.data(), comm);
      break;
    case Kind::reduce: functions.reduce(send, receive, count, type, MPI_SUM, 0, comm); break;
  }
}

double Cell::expected(std::int64_t number, std::size_t place) const {
  const std::size_t mine = static_cast<std::size_t>(world_.rank) * count_;
  const std::size_t within = place % count_;
  if (reduces()) {
    double sum = 0;
    const bool is_whole = kind_ == Kind::allreduce || kind_ == Kind::reduce;
    const std::size_t of_each = is_whole ? place : mine + place;
    for (int rank = 0; rank < world_.size; ++rank) sum += value(rank, of_each, number);
    return sum;
  }
  if (kind_ == Kind::bcast) return value(0, place, number);
  if (scatters(kind_)) return value(0, mine + place, number);
  const int from = static_cast<int>(place / count_);
  return value(from, is_all_to_all(kind_) ? mine + within : within, number);
}

std::int64_t Cell::wrong(std::int64_t number) const {
  const bool is_for_root = gathers(kind_) || kind_ == Kind::reduce;
  if (kind_ == Kind::barrier || (is_for_root && world_.rank != 0)) return 0;
  std::int64_t found = 0;
  for (std::size_t i = 0; i < receive_.size(); ++i) found += receive_[i] != expected(number, i);
  return found;
}

}  // namespace headrace::bench::collectives
