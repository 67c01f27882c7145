#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headrace::count {

/// A loop that does `units` times what `unit` names ("piece", "call"); may be run again.
struct HotLoop {
  std::string name;
  std::string unit;
  std::int64_t units;
  std::function<void()> run;
};

std::vector<HotLoop> hot_loops();

/// Those of the view room: cursors and copies.
void add_view_loops(std::vector<HotLoop>& loops);
/// Those of plan and policy.
void add_plan_loops(std::vector<HotLoop>& loops);
/// Schedules of collective calls of many ranks.
void add_collective_loops(std::vector<HotLoop>& loops);
/// Calls of the engine on a store that does nothing.
void add_file_loops(std::vector<HotLoop>& loops);

}  // namespace headrace::count
