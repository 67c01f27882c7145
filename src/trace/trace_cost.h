#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headrace::trace {

/// Whether this processor is one that the trampoline is for.
bool can_trace();

/// What tracing one call takes, in picoseconds.
struct CostOfWay {
  std::uint64_t whole = 0;
  std::uint64_t inside = 0;  ///< of it, what lies within the call (call_cost.h)
};

struct TraceCosts {
  CostOfWay by_trampoline;
  CostOfWay by_hooks;
};

/// Sets `call_costs`, and tells them. The least mean of some rounds of calls of a function that
/// does nothing, in a scratch image below `job` in the first of the directories that has room.
/// Nothing if there is none, and times are with what tracing takes. Call it before anything is
/// traced.
std::optional<TraceCosts> measure_costs(std::span<const std::string> directories,
                                        const std::string& job);

}  // namespace headrace::trace
