#include <algorithm>

#include "fuzz/model.h"
#include "fuzz/orders.h"

namespace headrace::fuzz {
namespace {

/// Follows the calls on one file through all worlds that they may lead to.
class GroupChecker {
 public:
  GroupChecker(const Program& program, const Group& group, const Observations& observations)
      : program_(program),
        group_(group),
        observations_(observations),
        state_(program.files[static_cast<std::size_t>(group.file)].mode, group.ranks.size()) {}

  /// The first problem, or empty.
  std::string run() {
    World world;
    world.content = initial_content(program_, group_);
    state_ = open(world, state_.mode, group_.ranks.size());
    worlds_ = {std::move(world)};
    for (const Step& step : program_.steps) {
      if (step.file == group_.file) take(step);
      if (!problem_.empty()) return problem_;
    }
    act();
    close(0);
    return problem_;
  }

 private:
  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::access:
        if (step.positioning == Positioning::shared && step.is_collective && !split_) {
          act();
          return ordered(step);
        }
        [[fallthrough]];
      case StepKind::seek:
      case StepKind::shared_position:
      case StepKind::byte_offset:
      case StepKind::get_size: return add_units(step);
      case StepKind::wait:
      case StepKind::sync:
      case StepKind::set_hints: return expect_success(step);
      case StepKind::end: return end(step);
      default: act(); return take_together(step);
    }
  }

  void add_units(const Step& step) {
    for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
      if (!part(step, rank).takes_part) continue;
      Unit& unit = units_.emplace_back();
      unit.call = call(step, rank);
      unit.seen = &seen(step, rank);
      unit.name = name(step, rank);
      if (step.kind == StepKind::access) {
        unit.memory = make_memory(program_, step, world_rank(rank));
      }
    }
    if (step.kind == StepKind::access && step.style == Style::split && !split_) split_ = &step;
  }

  /// Does the units that were gathered.
  void act() {
    if (units_.empty()) return;
    Remaining remaining = act_in_all_orders(state_, worlds_, units_);
    units_.clear();
    keep(std::move(remaining.worlds), remaining.problem);
  }

  /// One after the other in rank order, as one unit.
  void ordered(const Step& step) {
    std::vector<Memory> memories;
    for (const int rank : group_.ranks) memories.push_back(make_memory(program_, step, rank));
    std::vector<World> kept;
    std::string problem;
    for (World& world : worlds_) {
      std::string wrong;
      std::int64_t before = 0;
      for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
        const Call call = this->call(step, rank);
        const Expected expected =
            carry_out_access(world, state_, call, memories[rank], start_of(world, call, before));
        before += shared_etypes(state_, call);
        const std::string different = difference(expected, seen(step, rank), true);
        if (wrong.empty() && !different.empty()) wrong = name(step, rank) + ": " + different;
      }
      world.shared += before;
      if (wrong.empty())
        kept.push_back(std::move(world));
      else if (problem.empty())
        problem = wrong;
    }
    if (step.style == Style::split) split_ = &step;
    keep(std::move(kept), problem);
  }

  void end(const Step& step) {
    const bool matches = split_ != nullptr && split_->is_write == step.is_write &&
                         split_->positioning == step.positioning;
    if (!matches) return expect_errors(step, "io");
    split_ = nullptr;
    expect_success(step);
  }

  /// Steps that all ranks take together.
  void take_together(const Step& step) {
    switch (step.kind) {
      case StepKind::set_view: return set_view(step);
      case StepKind::seek_shared: {
        std::string error;
        for (World& world : worlds_) error = seek_shared(world, state_, step);
        return error.empty() ? expect_success(step) : expect_errors(step, error);
      }
      case StepKind::set_size:
      case StepKind::preallocate:
        for (World& world : worlds_) {
          const bool cuts = step.kind == StepKind::set_size;
          world.content->resize(cuts ? step.value : std::max(step.value, world.size()));
        }
        return expect_success(step);
      case StepKind::set_atomicity: state_.atomic = step.atomic; return expect_success(step);
      case StepKind::meet: return step.looks ? look(step.id) : expect_success(step);
      default: close(step.id); return reopen(step);
    }
  }

  void set_view(const Step& step) {
    std::vector<const Part*> parts;
    for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
      parts.push_back(&part(step, rank));
    }
    const std::optional<FileState> next = with_views(worlds_.front(), state_, parts);
    if (!next) return expect_errors(step, {});
    state_ = *next;
    for (World& world : worlds_) {
      world.shared = 0;
      std::ranges::fill(world.pointers, 0);
    }
    expect_success(step);
  }

  void close(int id) {
    if (!problem_.empty()) return;
    if (state_.mode.delete_on_close) {
      for (World& world : worlds_) world.content.reset();
    }
    look(id);
  }

  void reopen(const Step& step) {
    for (World& world : worlds_) state_ = open(world, step.mode, group_.ranks.size());
    expect_success(step);
  }

  /// Keeps the worlds whose file is the one that was seen.
  void look(int id) {
    const auto found = observations_.looks.find({group_.name, id});
    if (found == observations_.looks.end()) return;
    std::vector<World> kept;
    std::string problem;
    for (World& world : worlds_) {
      const std::string different = difference_of(found->second, world.content);
      if (different.empty()) {
        if (kept.empty() || kept.back().shared != world.shared) kept.push_back(std::move(world));
      } else if (problem.empty()) {
        problem = group_.name + (id == 0 ? " at the end: " : " at step " + std::to_string(id)) +
                  ": " + different;
      }
    }
    keep(std::move(kept), problem);
  }

  static std::string difference_of(const Look& is, const Look& should_be) {
    if (is.has_value() != should_be.has_value()) return is ? "it exists" : "it does not exist";
    if (!is) return {};
    const std::optional<std::int64_t> at = sim::Content::difference(*is, *should_be);
    if (!at) return {};
    const bool within = *at < is->size() && *at < should_be->size();
    return "byte " + std::to_string(*at) + " is " + std::to_string(is->at(*at)) + " instead of " +
           std::to_string(should_be->at(*at)) +
           (within ? ""
                   : ", size " + std::to_string(is->size()) + " instead of " +
                         std::to_string(should_be->size()));
  }

  void expect_success(const Step& step) { expect(step, true, {}); }
  /// An empty class stands for any error.
  void expect_errors(const Step& step, const std::string& error) { expect(step, false, error); }
  void expect(const Step& step, bool success, const std::string& error) {
    for (std::size_t rank = 0; rank < group_.ranks.size() && problem_.empty(); ++rank) {
      const Part& mine = part(step, rank);
      if (!mine.takes_part || (step.kind == StepKind::wait && mine.waits.empty())) continue;
      const Seen& got = seen(step, rank);
      std::string different;
      if (got.error.empty() != success || (!error.empty() && got.error != error)) {
        different = "error '" + got.error + "' instead of '" +
                    (success         ? ""
                     : error.empty() ? "(any)"
                                     : error) +
                    "' " + got.message;
      } else if (units_.empty() && !state_.mode.sequential) {
        different = pointer_difference(worlds_.front().pointers[rank], got);
      }
      if (!different.empty()) problem_ = name(step, rank) + ": " + different;
    }
  }

  void keep(std::vector<World> worlds, const std::string& problem) {
    worlds_ = std::move(worlds);
    if (worlds_.empty() && problem_.empty())
      problem_ = problem.empty() ? "no order was tried to its end" : problem;
  }

  int world_rank(std::size_t rank) const { return group_.ranks[rank]; }
  const Part& part(const Step& step, std::size_t rank) const {
    return step.parts[static_cast<std::size_t>(world_rank(rank))];
  }
  const Seen& seen(const Step& step, std::size_t rank) const {
    static const Seen kNothing{
        .error = "(never called)", .message = {}, .memory = {}, .value = {}, .position = {}};
    const auto& of_rank = observations_.of_rank[static_cast<std::size_t>(world_rank(rank))];
    const auto found = of_rank.find(step.id);
    return found == of_rank.end() ? kNothing : found->second;
  }
  Call call(const Step& step, std::size_t rank) const {
    return {&step, &part(step, rank), rank, may_cancel(step, rank) && seen(step, rank).cancelled,
            split_ != nullptr};
  }
  /// Whether the program asks for it; else a cancelled call is one that lost its data.
  bool may_cancel(const Step& access, std::size_t rank) const {
    if (access.style != Style::nonblocking || access.is_collective) return false;
    return std::ranges::any_of(program_.steps, [&](const Step& step) {
      return step.kind == StepKind::wait && step.cancels &&
             std::ranges::count(part(step, rank).waits, access.id) > 0;
    });
  }
  std::string name(const Step& step, std::size_t rank) const {
    return group_.name + ", step " + std::to_string(step.id) + ", rank " +
           std::to_string(world_rank(rank));
  }

  const Program& program_;
  const Group& group_;
  const Observations& observations_;
  FileState state_;
  std::vector<World> worlds_;
  std::vector<Unit> units_;
  const Step* split_ = nullptr;
  std::string problem_;
};

}  // namespace

std::vector<std::string> check(const Program& program, const Observations& observations) {
  std::vector<std::string> problems = observations.problems;
  for (const Group& group : groups_of(program)) {
    std::string problem = GroupChecker(program, group, observations).run();
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace headrace::fuzz
