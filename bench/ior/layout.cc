#include "ior/layout.h"

#include <cstdio>
#include <numeric>
#include <utility>

#include "common/pattern.h"

namespace headrace::bench::ior {

std::string file_name(const Parameters& parameters, int task, std::int64_t repetition) {
  std::string name = parameters.test_file;
  if (parameters.file_per_process) {
    char rank[16];
    std::snprintf(rank, sizeof rank, ".%08d", task);
    name += rank;
  }
  if (parameters.multi_file) name.append(1, '.').append(std::to_string(repetition));
  return name;
}

std::vector<int> reading_order(const Parameters& parameters, const World& world, Pass pass,
                               std::int64_t repetition) {
  std::vector<int> order(static_cast<std::size_t>(world.size));
  std::iota(order.begin(), order.end(), 0);
  if (parameters.reorder_constant) {
    const bool by_node = world.node_count > 1 && world.consecutive;
    const std::int64_t unit = by_node ? world.ranks_per_node : 1;
    const std::int64_t shift = parameters.task_offset * unit * static_cast<int>(pass);
    for (int& task : order) task = static_cast<int>((task + shift) % world.size);
  } else if (parameters.reorder_random) {
    std::uint64_t state = static_cast<std::uint64_t>(parameters.random_seed);
    if (parameters.random_seed < 0) state += static_cast<std::uint64_t>(repetition) << 32;
    for (std::size_t i = order.size(); i > 1; --i) {
      state = mix(state + static_cast<std::uint64_t>(pass));
      std::swap(order[i - 1], order[state % i]);
    }
  }
  return order;
}

}  // namespace headrace::bench::ior
