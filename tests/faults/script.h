#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "file/file.h"
#include "sim/requests.h"
#include "sim/views.h"

namespace headrace::faults {

using sim::Bytes;
using sim::Request;
using sim::ViewModel;

enum class StepKind {
  set_view,
  transfer,
  resize,
  allocate,
  sync,
  get_size,
  set_atomicity,
  seek_shared,
};

enum class Style {
  blocking,
  nonblocking,
  split,
  unwaited,  ///< nonblocking, and the program never asks what became of it
};

enum class Positioning { explicit_offset, pointer, shared };

/// What all ranks do next.
struct Step {
  StepKind kind = StepKind::transfer;
  std::vector<ViewModel> views;  ///< of each rank, to set

  Direction direction = Direction::write;
  Style style = Style::blocking;
  Positioning positioning = Positioning::explicit_offset;
  bool collective = true;
  std::vector<Request> requests;  ///< of each rank
  int invalid_rank = -1;          ///< the one whose arguments are wrong

  ByteCount size = 0;  ///< to set, or the shared pointer in etypes
  bool atomic = false;
};

/// What ranks do with one file.
struct Script {
  std::string name;
  std::vector<std::string> nodes;  ///< of each rank
  file::AccessMode mode{.read = true, .write = true};
  file::Hints hints;
  Bytes before;
  std::vector<Step> steps;
  Layer layer = Layer::store;
  int delay_every = 0;       ///< of the simulation's disk
  bool learns_late = false;  ///< no sync before the close

  int ranks() const { return static_cast<int>(nodes.size()); }
};

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
