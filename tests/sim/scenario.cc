#include "sim/scenario.h"

#include <algorithm>

#include "sim/story_writer.h"

namespace headrace::sim {

file::Hints random_hints(Random& random) {
  file::Hints hints;
  const std::vector<std::string> paths{"direct", "staged", "exchanged", "exchanged", "automatic"};
  if (random.chance(80)) hints["headrace_write_path"] = random.one_of(paths);
  if (random.chance(80)) hints["headrace_read_path"] = random.one_of(paths);
  if (random.chance(70)) hints["cb_buffer_size"] = "65536";
  if (random.chance(20))
    hints["striping_unit"] = random.one_of<std::string>({"8192", "131072", "999"});
  if (random.chance(40)) {
    hints["ind_rd_buffer_size"] = random.one_of<std::string>({"4096", "5000", "70000"});
  }
  if (random.chance(40)) hints["cb_nodes"] = std::to_string(random.number(1, 12));
  return hints;
}

std::vector<std::string> random_nodes(Random& random, int ranks) {
  const std::int64_t count = random.chance(50) ? 1 : random.number(1, 4);
  const bool in_blocks = random.chance(50);
  std::vector<std::string> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t node = in_blocks ? rank * count / ranks : random.number(0, count - 1);
    nodes.push_back("node" + std::to_string(node));
  }
  return nodes;
}

int random_rank_count(Random& random) {
  if (random.chance(3)) return static_cast<int>(random.number(17, 64));
  if (random.chance(20)) return static_cast<int>(random.number(5, 16));
  return static_cast<int>(random.number(1, 5));
}

Scenario make_scenario(std::uint64_t seed) {
  Random random(seed);
  Scenario scenario;
  scenario.ranks = random_rank_count(random);
  scenario.nodes = random_nodes(random, scenario.ranks);
  scenario.delay_every = random.chance(40) ? static_cast<int>(random.number(3, 40)) : 0;
  const std::int64_t files = random.chance(75) ? 1 : random.number(2, 3);
  scenario.has_thread_a_file = files > 1 && random.chance(50);
  for (int i = 0; i < files; ++i) {
    StoryWriter writer(random, scenario.ranks, "file" + std::to_string(i));
    writer.may_reopen(!scenario.has_thread_a_file);
    scenario.files.push_back(writer.write(random.number(2, 10)));
    scenario.order.insert(scenario.order.end(), scenario.files.back().steps.size(), i);
  }
  random.shuffle(scenario.order);
  scenario.is_local = random.chance(50);
  return scenario;
}

}  // namespace headrace::sim
