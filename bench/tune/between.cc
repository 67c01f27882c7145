#include "tune/between.h"

#include <array>
#include <cstddef>

#include "common/failure.h"
#include "common/meeting.h"
#include "common/mpi_file.h"

namespace headrace::bench::tune {
namespace {

constexpr int kTag = 7;

void require(const std::string& error) {
  if (!error.empty()) throw Failure(error);
}

/// The first rank of another node than the first; -1 on one node. Collective.
int other_rank(const World& world, const Place& place, bool is_on_first_node) {
  int mine = is_on_first_node || place.rank != 0 ? world.size : world.rank;
  int least = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, world.communicator);
  return least == world.size ? -1 : least;
}

void pass(int rank, int other, std::byte* data, int bytes, MPI_Comm communicator) {
  if (rank == 0) {
    MPI_Send(data, bytes, MPI_BYTE, other, kTag, communicator);
    MPI_Recv(data, bytes, MPI_BYTE, other, kTag, communicator, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, bytes, MPI_BYTE, 0, kTag, communicator, MPI_STATUS_IGNORE);
    MPI_Send(data, bytes, MPI_BYTE, 0, kTag, communicator);
  }
}

void measure_messages(MPI_Comm both, double seconds, std::vector<Figure>& figures) {
  int rank = 0;
  MPI_Comm_rank(both, &rank);
  for (const int bytes : {8, 1 << 20}) {
    std::vector<std::byte> data(static_cast<std::size_t>(bytes));
    Figure figure{.what = "message", .ranks = 2, .bytes = bytes};
    pass(rank, 1, data.data(), bytes, both);
    repeat(both, seconds, kLeastSamples, [&] {
      const double begin = node_clock();
      pass(rank, 1, data.data(), bytes, both);
      figure.seconds.push_back((node_clock() - begin) / 2);
    });
    if (rank == 0) figures.push_back(std::move(figure));
  }
}

/// The first writes a number, the other reads it once it has been told that the write returned.
/// Where the other has no such file it sees none of the writes.
Coherence measure_coherence(MPI_Comm both, const std::string& path) {
  constexpr std::int64_t kTries = 50;
  int rank = 0;
  MPI_Comm_rank(both, &rank);
  MpiFile file;
  if (rank == 0) require(file.open(MPI_COMM_SELF, path, true, MPI_INFO_NULL));
  MPI_Barrier(both);
  int has_file = 1;
  if (rank == 1) has_file = file.open(MPI_COMM_SELF, path, false, MPI_INFO_NULL).empty() ? 1 : 0;
  MPI_Bcast(&has_file, 1, MPI_INT, 1, both);
  if (has_file == 0) {
    require(file.close());
    return {kTries, kTries};
  }
  std::int64_t stale = 0;
  for (std::int64_t i = 1; i <= kTries; ++i) {
    std::int64_t number = i;
    MPI_Status status;
    if (rank == 0) {
      const int code = MPI_File_write_at(file.handle(), 0, &number, 8, MPI_BYTE, &status);
      require(file.moved(code, status, MPI_BYTE, 8, "bytes", "write"));
    }
    MPI_Barrier(both);
    if (rank == 1) {
      number = 0;
      const int code = MPI_File_read_at(file.handle(), 0, &number, 8, MPI_BYTE, &status);
      require(file.result(code, "read"));  // of too few bytes: it does not see them yet
      if (number != i) ++stale;
    }
    MPI_Barrier(both);
  }
  MPI_Bcast(&stale, 1, MPI_INT64_T, 1, both);
  require(file.close());
  return {kTries, stale};
}

}  // namespace

void measure_between_nodes(const World& world, const Place& place, double seconds,
                           std::vector<Figure>& figures, Coherence& coherence) {
  int is_first = world.rank == 0 ? 1 : 0;
  MPI_Bcast(&is_first, 1, MPI_INT, 0, place.node);
  const int other = other_rank(world, place, is_first == 1);
  if (other < 0) return;
  const bool is_one_of_both = world.rank == 0 || world.rank == other;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(world.communicator, is_one_of_both ? 0 : MPI_UNDEFINED, world.rank, &both);
  if (both != MPI_COMM_NULL) {
    measure_messages(both, seconds / 2, figures);
    coherence = measure_coherence(both, place.file);
    MPI_Comm_free(&both);
  }
  meet(world.communicator);
}

}  // namespace headrace::bench::tune
