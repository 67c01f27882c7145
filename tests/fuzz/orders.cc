#include "fuzz/orders.h"

#include <algorithm>

namespace headrace::fuzz {
namespace {

constexpr std::int64_t kMostOrders = 50'000;

std::string numbers(const std::string& what, std::int64_t is, std::int64_t should_be) {
  return what + " " + std::to_string(is) + " instead of " + std::to_string(should_be);
}

/// Does a unit and compares it with what was seen.
std::string act(World& world, const FileState& state, const Unit& unit) {
  Expected expected;
  const bool is_access = unit.call.step->kind == StepKind::access;
  if (is_access) {
    const std::int64_t start = start_of(world, unit.call);
    world.shared += shared_etypes(state, unit.call);
    expected = carry_out_access(world, state, unit.call, unit.memory, start);
  } else {
    expected = carry_out_query(world, state, unit.call);
  }
  std::string problem = difference(expected, *unit.seen, is_access);
  if (problem.empty() && !state.mode.sequential) {
    problem = pointer_difference(world.pointers[unit.call.rank], *unit.seen);
  }
  return problem.empty() ? problem : unit.name + ": " + problem;
}

/// Which units commute with those of all other ranks.
std::vector<bool> commuting(const FileState& state, World world, const std::vector<Unit>& units) {
  std::vector<Footprint> bytes;
  for (const Unit& unit : units) {
    bytes.emplace_back();
    if (unit.call.step->kind == StepKind::access) {
      const ViewMap& view = state.maps[unit.call.rank];
      bytes.back() = footprint(view, start_of(world, unit.call), std::ssize(unit.memory.places));
    }
    World before = world;
    act(world, state, unit);
    world.content = before.content;  // sizes as they were
  }
  const auto depends = [&](std::size_t i, std::size_t j) {
    const Step& a = *units[i].call.step;
    const Step& b = *units[j].call.step;
    if (units[i].call.rank == units[j].call.rank) return false;
    if (a.kind != StepKind::access || b.kind != StepKind::access) return false;
    if (a.positioning == Positioning::shared && b.positioning == Positioning::shared) return true;
    if (!a.is_write && !b.is_write) return false;
    if (overlap(bytes[i], bytes[j])) return true;
    // A read that meets the end, and a write that moves it.
    const std::int64_t size = world.size();
    return a.is_write != b.is_write && end_of(bytes[i]) > size && end_of(bytes[j]) > size;
  };
  std::vector<bool> result;
  for (std::size_t i = 0; i < units.size(); ++i) {
    bool is_free = true;
    for (std::size_t j = 0; j < units.size() && is_free; ++j) is_free = !depends(i, j);
    result.push_back(is_free);
  }
  return result;
}

class Search {
 public:
  Search(const FileState& state, const std::vector<Unit>& units, std::vector<bool> commutes,
         Remaining& remaining)
      : state_(state), units_(units), commutes_(std::move(commutes)), remaining_(remaining) {}

  void from(const World& world) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < units_.size(); ++i) left.push_back(i);
    go_on(world, left);
  }

 private:
  void go_on(World world, std::vector<std::size_t> left) {
    if (orders_ >= kMostOrders) return;
    // Each rank's next unit.
    std::vector<std::size_t> next;
    for (const std::size_t unit : left) {
      if (std::ranges::none_of(next, [&](std::size_t other) { return same_rank(unit, other); })) {
        next.push_back(unit);
      }
    }
    if (next.empty()) {
      ++orders_;
      remaining_.worlds.push_back(std::move(world));
      return;
    }
    const auto free = std::ranges::find_if(next, [&](std::size_t i) { return commutes_[i]; });
    if (free != next.end()) next = {*free};
    for (const std::size_t unit : next) {
      World after = world;
      const std::string problem = act(after, state_, units_[unit]);
      if (!problem.empty()) {
        ++orders_;
        if (remaining_.problem.empty()) remaining_.problem = problem;
        continue;
      }
      std::vector<std::size_t> rest = left;
      std::erase(rest, unit);
      go_on(std::move(after), std::move(rest));
    }
  }
  bool same_rank(std::size_t a, std::size_t b) const {
    return units_[a].call.rank == units_[b].call.rank;
  }

  const FileState& state_;
  const std::vector<Unit>& units_;
  std::vector<bool> commutes_;
  Remaining& remaining_;
  std::int64_t orders_ = 0;
};

}  // namespace

Remaining act_in_all_orders(const FileState& state, const std::vector<World>& worlds,
                            const std::vector<Unit>& units) {
  Remaining remaining;
  for (const World& world : worlds) {
    Search(state, units, commuting(state, world, units), remaining).from(world);
  }
  return remaining;
}

std::string difference(const Expected& expected, const Seen& seen, bool is_access) {
  if (expected.errors.empty() && !seen.error.empty()) {
    return "error '" + seen.error + "' instead of success: " + seen.message;
  }
  if (!expected.errors.empty() &&
      std::ranges::find(expected.errors, seen.error) == expected.errors.end()) {
    return "error '" + seen.error + "' instead of '" + expected.errors.front() + "'";
  }
  if (expected.errors.empty() && is_access && seen.bytes != expected.bytes) {
    return numbers("bytes moved:", seen.bytes, expected.bytes);
  }
  if (is_access && seen.memory != expected.memory) {
    if (seen.memory.size() != expected.memory.size()) return "the call was never completed";
    const auto [is, should_be] = std::ranges::mismatch(seen.memory, expected.memory);
    return "memory byte " + std::to_string(is - seen.memory.begin()) + " is" +
           numbers("", *is, *should_be);
  }
  if (expected.value && seen.value != expected.value) {
    return numbers("the answer is", seen.value.value_or(-1), *expected.value);
  }
  return {};
}

std::string pointer_difference(std::int64_t expected, const Seen& seen) {
  if (!seen.position || *seen.position == expected) return {};
  return numbers("the pointer is at", *seen.position, expected);
}

}  // namespace headrace::fuzz
