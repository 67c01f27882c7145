#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/runner.h"

namespace headrace::sim {

enum class FaultStepKind { transfer, resize, allocate, sync };

/// One collective step, with a disk that may fail during it.
struct FaultStep {
  FaultStepKind kind = FaultStepKind::transfer;
  std::vector<ViewModel> views;  ///< of each rank; set first where there are any
  Direction direction = Direction::write;
  bool collective = true;
  std::vector<Request> requests;
  ByteCount size = 0;
  std::optional<Fault> fault;
};

/// Ranks that work on one file while its disk fails.
struct FaultCase {
  std::vector<std::string> nodes;  ///< of each rank
  engine::AccessMode mode;
  engine::Hints hints;
  Bytes before;
  std::vector<FaultStep> steps;
  std::optional<Fault> at_open;
  std::optional<Fault> at_close;
  int delay_every = 0;

  int ranks() const { return static_cast<int>(nodes.size()); }
};

FaultCase make_fault_case(std::uint64_t seed);

/// Runs it and returns what breaks the contract: counts are of bytes truly moved, no other byte
/// changes, who lost data is told, nobody else is, and the file goes on working.
std::vector<std::string> run_fault_case(const FaultCase& fault_case);

}  // namespace headrace::sim
