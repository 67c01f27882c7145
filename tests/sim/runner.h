#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "sim/ranks.h"
#include "sim/scenario.h"

namespace headrace::sim {

/// What went otherwise than predicted; from several threads.
class Problems {
 public:
  void add(const std::string& problem);
  std::vector<std::string> take();

 private:
  std::mutex mutex_;
  std::vector<std::string> list_;
};

/// Lets the engine act a scenario and returns what differs from its prediction; empty where all is
/// well.
std::vector<std::string> run_scenario(const Scenario& scenario);

/// "3 differs: 7 instead of 9" for the first different byte, or empty.
std::string first_difference(const Bytes& is, const Bytes& should_be);

/// Cases to run, and the seed of the first: HEADRACE_SIM_CASES and HEADRACE_SIM_SEED, or these.
struct Budget {
  int cases;
  std::uint64_t first_seed;
};
Budget budget(int default_cases);
/// The line that runs one case again.
std::string again(std::uint64_t seed);

}  // namespace headrace::sim
