// Measures a file system: what requests, copies and messages cost, and collective calls by both
// paths. `headrace tune` starts it, under the preload, and reads the figures that it prints.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/failure.h"
#include "common/json.h"
#include "common/meeting.h"
#include "common/options.h"
#include "common/test_file.h"
#include "common/world.h"
#include "topo/processor.h"
#include "tune/between.h"
#include "tune/figure.h"
#include "tune/page_cache.h"
#include "tune/paths.h"
#include "tune/requests.h"

namespace headrace::bench::tune {
namespace {

struct Parameters {
  std::string directory;
  double seconds = 180;
  Size piece;
  std::int64_t pieces = 1;
  bool reads = false;
  bool show_help = false;
};

Parameters parse(int argc, char** argv, std::string& help) {
  Parameters p;
  OptionParser parser("headrace tune io",
                      "tune: what requests, copies and messages cost on a file system",
                      {
                          {'d', "directory", &p.directory, "where the files are made"},
                          {'t', "seconds", &p.seconds, "how long it should take"},
                          {0, "piece", &p.piece, "only a pattern of such pieces"},
                          {0, "pieces", &p.pieces, "of each rank, for --piece", 1},
                          {0, "reads", &p.reads, "reads of them, not writes, for --piece"},
                          {'h', "help", &p.show_help, "this help"},
                      });
  parser.parse(argc, argv);
  help = parser.help();
  if (!p.show_help && p.directory.empty()) throw AgreedFailure("no directory, give -d", 2);
  return p;
}

std::string host_name() {
  std::string name(256, '\0');
  gethostname(name.data(), name.size() - 1);
  return name.c_str();
}

/// Measures task by task, and tells the first rank's output how far it is.
void run(const Place& place, const std::vector<Task>& tasks, double seconds, bool shows) {
  double weights = 0;
  for (const Task& task : tasks) weights += task.weight;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (shows) {
      std::printf("progress %zu/%zu %s\n", i + 1, tasks.size(), tasks[i].name.c_str());
      std::fflush(stdout);
    }
    tasks[i].measure(seconds * tasks[i].weight / weights);
    meet(place.node);
  }
}

struct Results {
  std::vector<Figure> figures;
  Told told;
  Coherence coherence;
};

std::string json_of(const World& world, const Place& place, const Results& results) {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace tune");
  json.member("MPI", library_version());
  json.member("ranks", world.size);
  json.member("nodes", world.node_count);
  json.member("node_ranks", place.size);
  json.member("cores", static_cast<std::int64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
  json.member("processor", topo::processor_name());
  json.member("host", host_name());
  json.member("file_system", results.told.file_system);
  json.member("core_distance", results.told.core_distance);
  json.member("reads_memory", place.cache->keeps());
  json.member("coherence_tries", results.coherence.tries);
  json.member("coherence_stale", results.coherence.stale);
  json.open_array("figures");
  for (const Figure& figure : results.figures) write(json, figure);
  json.close_array();
  json.close_object();
  return json.text();
}

int body(int argc, char** argv) {
  const World world = survey(MPI_COMM_WORLD);
  std::string help;
  const Parameters parameters = parse(argc, argv, help);
  if (parameters.show_help) {
    if (world.rank == 0) std::fputs(help.c_str(), stdout);
    return 0;
  }
  Place place;
  place.directory = parameters.directory;
  place.file = parameters.directory + "/file";
  PageCache cache(place.file);
  place.cache = &cache;
  MPI_Comm_split_type(world.communicator, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL,
                      &place.node);
  MPI_Comm_rank(place.node, &place.rank);
  MPI_Comm_size(place.node, &place.size);
  int is_first_node = world.rank == 0 ? 1 : 0;
  MPI_Bcast(&is_first_node, 1, MPI_INT, 0, place.node);
  // With one there is no other path than each rank's own.
  agree(world.communicator, is_first_node == 1 && place.size < 2
                                ? "the first node has one rank, start two or more on a node"
                                : "");
  constexpr std::int64_t kBytesOfRank = std::int64_t{24} << 20;
  require_space(world.communicator, place.file, kBytesOfRank * world.ranks_per_node);
  const Buffer cold = make_buffer(world.communicator, kColdBytes, Buffer::Place::page);
  std::ranges::fill(cold.bytes(), std::byte{1});
  place.cold = cold.bytes();
  const RemovedOnSignal removed(place.file, world.rank == 0);
  Results results;
  const double of_nodes = world.node_count > 1 && parameters.piece.bytes == 0 ? 0.1 : 0;
  if (of_nodes > 0 && world.rank == 0) std::printf("nodes %d\n", world.node_count);
  if (is_first_node == 1) {
    std::vector<Task> tasks;
    if (parameters.piece.bytes > 0) {
      add_pattern_task(place, !parameters.reads, parameters.piece.bytes, parameters.pieces,
                       results.figures, tasks);
    } else {
      add_request_tasks(place, results.figures, tasks);
      add_together_tasks(place, results.figures, tasks);
      add_path_tasks(place, results.figures, results.told, tasks);
    }
    run(place, tasks, parameters.seconds * (1 - of_nodes), world.rank == 0);
  }
  meet(world.communicator);
  if (of_nodes > 0) {
    measure_between_nodes(world, place, parameters.seconds * of_nodes, results.figures,
                          results.coherence);
  }
  remove_test_file(world.communicator, place.file, world.rank == 0);
  if (world.rank == 0) {
    std::printf("figures\n%s\nend of figures\n", json_of(world, place, results).c_str());
    std::fflush(stdout);
  }
  MPI_Comm_free(&place.node);
  return 0;
}

}  // namespace
}  // namespace headrace::bench::tune

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"tune", "-n"}, headrace::bench::tune::body);
}
