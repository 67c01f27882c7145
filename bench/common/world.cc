#include "common/world.h"

#include <cmath>
#include <ctime>

#include "common/meeting.h"

namespace headrace::bench {

double node_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

World survey(MPI_Comm communicator) {
  World world;
  world.communicator = communicator;
  MPI_Comm_rank(communicator, &world.rank);
  MPI_Comm_size(communicator, &world.size);

  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &node);
  int first = world.rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  count_cores(node);
  MPI_Comm_free(&node);

  std::vector<int> leaders(static_cast<std::size_t>(world.size));
  MPI_Allgather(&first, 1, MPI_INT, leaders.data(), 1, MPI_INT, communicator);
  world.ranks_per_node = static_cast<int>(std::count(leaders.begin(), leaders.end(), 0));
  world.consecutive = world.size == 1 || leaders[1] == 0;
  std::vector<int> ranks_of(leaders.size());  // by leader
  for (const int leader : leaders) ++ranks_of[static_cast<std::size_t>(leader)];
  std::erase(ranks_of, 0);
  world.node_sizes = ranks_of;
  world.node_count = static_cast<int>(ranks_of.size());
  world.largest_node = *std::max_element(ranks_of.begin(), ranks_of.end());

  if (world.node_count > 1) {
    MPI_Barrier(communicator);
    const double mine = node_clock();
    double root = mine;
    MPI_Bcast(&root, 1, MPI_DOUBLE, 0, communicator);
    world.clock_offset = root - mine;
  }
  return world;
}

Durations durations(const World& world, const Stamps& stamps) {
  const double begins[3] = {stamps.open_begin, stamps.transfer_begin, stamps.close_begin};
  const double ends[3] = {stamps.open_end, stamps.transfer_end, stamps.close_end};
  double first[3];
  double last[3];
  MPI_Allreduce(begins, first, 3, MPI_DOUBLE, MPI_MIN, world.communicator);
  MPI_Allreduce(ends, last, 3, MPI_DOUBLE, MPI_MAX, world.communicator);
  return {last[0] - first[0], last[1] - first[1], last[2] - first[2], last[2] - first[0]};
}

std::int64_t sum(const World& world, std::int64_t value) {
  std::int64_t total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, world.communicator);
  return total;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version = text;
  version = version.substr(0, version.find('\n'));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  return text;
}

Statistics statistics(const std::vector<double>& values) {
  Statistics result;
  result.minimum = *std::min_element(values.begin(), values.end());
  result.maximum = *std::max_element(values.begin(), values.end());
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    result.deviation += (value - result.mean) * (value - result.mean);
  }
  result.deviation = std::sqrt(result.deviation / static_cast<double>(values.size()));
  return result;
}

}  // namespace headrace::bench
