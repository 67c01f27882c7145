#pragma once

#include <vector>

#include "tune/figure.h"
#include "tune/requests.h"

namespace headrace::bench::tune {

/// What else the layer tells of its choices.
struct Told {
  std::string file_system;   ///< its kind
  double core_distance = 0;  ///< nanoseconds that a page takes to another core; 0: not measured
};

/// Tasks of collective calls in which the pieces of all ranks take turns: each by both paths, in
/// turns.
void add_path_tasks(const Place& place, std::vector<Figure>& figures, Told& told,
                    std::vector<Task>& tasks);

/// A collective call of `count` pieces of each rank by the path that the layer chooses: a figure
/// "write_pattern" or "read_pattern".
void add_pattern_task(const Place& place, bool writes, std::int64_t bytes, std::int64_t count,
                      std::vector<Figure>& figures, std::vector<Task>& tasks);

}  // namespace headrace::bench::tune
