#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "count/counters.h"
#include "count/shapes.h"
#include "file/hints.h"

namespace headrace::count {

/// A fixed program of all ranks: open, set a view, `calls` writes one behind the other, the same
/// reads, close.
struct Case {
  std::string name;
  int ranks = 2;
  std::function<Shape(int rank)> shape;
  int calls = 1;
  int nodes = 1;
  file::Hints hints = {};
  bool is_collective = true;
  /// Each rank makes all its calls before the next one begins: whoever waits for another rank never
  /// ends. Sleeps are counted.
  bool takes_turns = false;
};

/// What is done wrongly on purpose, so that the comparison can be seen to notice.
enum class Plant {
  nothing,
  store,    ///< each read and write of the store is made twice
  meeting,  ///< the ranks meet once more before each call
  copy,     ///< the data is copied once more before each call
};

/// Name of a phase ("write"), and what was counted in it.
using Phase = std::pair<std::string, Counts>;

/// Runs a case on threads as ranks and a disk in memory. Ends the program with a message where the
/// data is wrong or a rank waits without end.
std::vector<Phase> run(const Case& what, Plant plant);

}  // namespace headrace::count
