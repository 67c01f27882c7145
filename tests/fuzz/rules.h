#pragma once

#include <string>
#include <vector>

#include "fuzz/group_rules.h"
#include "fuzz/program.h"

namespace headrace::fuzz {

/// The rules of a whole program, step by step.
class Rules {
 public:
  explicit Rules(const Program& program);  ///< looks at ranks and files only

  /// Why the step must not be taken now, or empty: then it is taken.
  std::string take(const Step& step);
  const std::vector<GroupRules>& groups() const { return groups_; }
  const std::string& problem() const { return problem_; }  ///< of the files

 private:
  std::vector<GroupRules> groups_;
  std::string problem_;
};

/// Why a program has no defined outcome, or empty.
std::string problem_of(const Program& program);

}  // namespace headrace::fuzz
