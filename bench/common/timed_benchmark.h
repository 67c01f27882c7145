#pragma once

#include <cstdio>
#include <string>

#include "common/failure.h"
#include "common/hints.h"
#include "common/results_file.h"
#include "common/world.h"

namespace headrace::bench {

/// The body of a benchmark that moves everything in one call: its command line, its hints, its run,
/// its results on the terminal and as JSON. Parameters have show_help, hints_file and json; a Bench
/// is made of them, the ranks and the hints, and has run(), report(), json() and is_right().
template <class Bench, class Parameters>
int run_timed_benchmark(int argc, char** argv,
                        Parameters (*parse)(int, char**, int ranks, std::string& help),
                        void (*print_job)(const Parameters&, const World&)) {
  const World world = survey(MPI_COMM_WORLD);
  std::string help;
  const Parameters parameters = parse(argc, argv, world.size, help);
  if (parameters.show_help) {
    if (world.rank == 0) std::fputs(help.c_str(), stdout);
    return 0;
  }
  const Hints hints = requested_hints(world.communicator, parameters.hints_file);
  require_results_file(world.communicator, parameters.json);
  const bool shown = world.rank == 0 && parameters.json != "-";
  if (shown) print_job(parameters, world);
  Bench bench(parameters, world, hints);
  bench.run();
  if (shown) bench.report();
  const bool writes = world.rank == 0 && !parameters.json.empty();
  write_results_file(world.communicator, parameters.json, writes ? bench.json() : std::string());
  return bench.is_right() ? 0 : 1;
}

}  // namespace headrace::bench
