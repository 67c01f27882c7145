#include "fuzz/rules.h"

#include <set>

namespace headrace::fuzz {

Rules::Rules(const Program& program) {
  for (const Group& group : groups_of(program)) {
    const Mode& mode = program.files[static_cast<std::size_t>(group.file)].mode;
    World world;
    world.content = initial_content(program, group);
    if (problem_.empty()) problem_ = problem_of_open(world, mode);
    if (!problem_.empty()) return;
    groups_.emplace_back(program, group);
  }
}

std::string Rules::take(const Step& step) {
  std::vector<GroupRules> next = groups_;
  for (GroupRules& group : next) {
    if (group.group().file != step.file) continue;
    if (std::string problem = group.take(step); !problem.empty()) return problem;
  }
  groups_ = std::move(next);
  return {};
}

std::string problem_of(const Program& program) {
  if (program.nodes.empty() || program.files.empty()) return "no ranks or no files";
  Rules rules(program);
  if (!rules.problem().empty()) return rules.problem();
  std::set<int> ids{0};
  for (const Step& step : program.steps) {
    if (!ids.insert(step.id).second) return "an id is used again";
    if (std::string problem = rules.take(step); !problem.empty()) {
      return "step " + std::to_string(step.id) + ": " + problem;
    }
  }
  for (const GroupRules& group : rules.groups()) {
    if (std::string problem = group.must_not_close(); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace headrace::fuzz
