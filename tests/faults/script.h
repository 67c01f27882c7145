#pragma once

#include <string>
#include <vector>

#include "faults/fault.h"
#include "sim/disk.h"
#include "steps/step.h"

namespace headrace::faults {

using namespace steps;
using sim::Bytes;

/// What ranks do with one file.
struct Script {
  std::string name;
  std::vector<std::string> nodes;  ///< of each rank
  Mode mode;
  Hints hints;
  Bytes before;
  std::vector<Step> steps;
  Layer layer = Layer::store;
  int delay_every = 0;       ///< of the simulation's disk
  bool learns_late = false;  ///< no sync before the close

  int ranks() const { return static_cast<int>(nodes.size()); }
};

/// A step for so many ranks.
Step step_of(StepKind kind, int ranks, std::int64_t value = 0);
/// Whether a rank's arguments are wrong.
bool has_wrong(const Step& step);

/// The name of MPI's procedure, without MPI_File_.
std::string call_of(const Step& step);
/// All of them, in the order of a table.
const std::vector<std::string>& all_calls();

/// Short programs that cover every access function, on one node and on two.
std::vector<Script> fixed_scripts(Layer layer);

/// A random program, and random faults for it.
Script random_script(std::uint64_t seed);
std::vector<Fault> random_faults(std::uint64_t seed, const Script& script);

}  // namespace headrace::faults
