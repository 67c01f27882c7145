#pragma once

#include <string>
#include <vector>

#include "fuzz/generate.h"
#include "fuzz/rules.h"
#include "sim/random.h"

namespace headrace::fuzz {

Hints random_hints(sim::Random& random);

/// Adds random steps to a program, all of them allowed, and the meetings they need.
class StepMaker {
 public:
  StepMaker(sim::Random& random, Program& program, const Features& features);

  /// Mostly sets a view: without one, ranks do not meet and data is not staged.
  void begin(int file);
  void add_step(int file);
  /// Waits for all requests and ends the split collective.
  void complete_all(int file);

 private:
  Step make(int file, StepKind kind);
  bool add(Step step);
  /// Adds the step, after a meeting if it takes one.
  bool add_or_meet(Step step);
  void meet(int file);

  StepKind next_kind(int file);
  Step access(int file);
  void choose_function(Step& step);
  void fill_part(const Step& step, int rank, Part& part, std::int64_t most_bytes);
  void lie_around_border(int rank, int file, std::int64_t window, Part& part);
  std::int64_t random_offset(const GroupRules& group, std::size_t rank);
  void spoil(Step& step);
  void add_access(Step step);
  void wait(int file);
  void end(int file, bool rightly);
  Step seek(int file);
  Step set_view(int file);
  Step set_size(int file, StepKind kind);
  Step reopen(int file);

  /// A rank's group, and its number there.
  struct Place {
    const GroupRules* group;
    std::size_t rank;
  };
  Place place_of(int file, int rank) const;
  const GroupRules& first_group(int file) const { return *place_of(file, 0).group; }
  bool has_requests(int file) const;

  sim::Random& random_;
  Program& program_;
  Features features_;
  Rules rules_;
  int next_id_ = 1;
};

}  // namespace headrace::fuzz
