#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/generated/tables.h"

namespace headrace::record {

/// Where the time of ranks went, in ns. Plain numbers, which nodes can add up.
struct RunTimes {
  std::int64_t runs = 0;         ///< of all ranks together
  std::int64_t longest_run = 0;  ///< of one rank
  std::int64_t in_mpi = 0;       ///< of all ranks together; of several threads of one the mean
  std::int64_t useful = 0;       ///< of all ranks together: a rank's run less its time in MPI
  std::int64_t most_useful = 0;  ///< of one rank

  void add(const RunTimes& other);
};

/// One frame of a call path, to be looked up where the program's files are.
struct FoundFrame {
  std::string file;      ///< in which it lies
  std::int64_t offset;   ///< of the return address, as the ELF file counts
  std::string function;  ///< of frames that are no machine code
  std::int64_t line;
};

/// What cost most of a node's ranks, between MPI_Init and MPI_Finalize.
struct Costliest {
  std::string procedure;       ///< empty if no time was spent in MPI
  std::int64_t time = 0;       ///< in ns, of the node's ranks together, by all call paths
  std::string site_procedure;  ///< the one that costs most by one call path, and what that takes
  std::int64_t site_time = 0;
  std::vector<FoundFrame> site;  ///< that path, the innermost frame first
};

/// What the functions below look at: tables of one node.
struct NodeView {
  std::span<const RanksRow> ranks;
  std::span<const CallsRow> calls;
  std::span<const PathsRow> paths;
  std::span<const ModulesRow> modules;
  std::span<const std::string> texts;
};

/// As `headrace report` adds up (docs/report.md).
RunTimes times_of_run(const NodeView& node);
Costliest costliest(const NodeView& node);

using Names = std::initializer_list<std::pair<std::string_view, std::string>>;
/// A text of spec/verdict.toml, with its {names} filled in.
std::string filled(std::string_view text, const Names& names);

/// The sentence on a run, and the line with its efficiencies, which is empty if nothing can be said
/// of them. `first` is of all ranks, or null if that is not known.
std::string verdict_of(const RunTimes& times, std::int64_t ranks, const Costliest* first);
std::string efficiency_of(const RunTimes& times, std::int64_t ranks);

}  // namespace headrace::record
