#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/json.h"

namespace headrace::bench::tune {

/// One thing that was measured.
struct Figure {
  std::string what;                  ///< such as "append": docs/tune.md has all
  std::int64_t ranks = 1;            ///< that did it at the same time
  std::int64_t bytes = 0;            ///< of a request, or of a piece
  std::int64_t count = 1;            ///< pieces of a rank in a call
  std::int64_t gap = 0;              ///< bytes between pieces
  std::string path = {};             ///< of collective calls: direct or staged
  std::vector<double> seconds = {};  ///< of one request or call, by sample
};

void write(JsonWriter& json, const Figure& figure);

/// Calls `sample` on all ranks of a communicator until `seconds` are over on its first rank, but at
/// least `least` times and at most kMostSamples. Collective.
void repeat(MPI_Comm communicator, double seconds, int least, const std::function<void()>& sample);

inline constexpr int kLeastSamples = 3;
inline constexpr int kMostSamples = 101;

/// What is to be measured: its name for people, and its share of the time.
struct Task {
  std::string name;
  double weight = 1;
  std::function<void(double seconds)> measure;
};

}  // namespace headrace::bench::tune
