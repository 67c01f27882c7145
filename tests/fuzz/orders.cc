#include "fuzz/orders.h"

#include <algorithm>
#include <map>

namespace headrace::fuzz {
namespace {

constexpr std::int64_t kMaxOrders = 50'000;

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

/// Which pairs of units of different ranks do not commute.
class Dependence {
 public:
  Dependence(const FileState& state, World world, const std::vector<Unit>& units)
      : size_(world.size()) {
    for (const Unit& unit : units) {
      Facts& facts = facts_.emplace_back(Facts{&unit, {}, 0});
      if (unit.call.step->kind == StepKind::access && errors_of(state, unit.call).empty()) {
        const ViewMap& view = state.maps[unit.call.rank];
        facts.bytes = footprint(view, start_of(world, unit.call), std::ssize(unit.memory.places));
        facts.shared_etypes = shared_etypes(state, unit.call);
      }
      World before = world;
      act(world, state, unit);
      world.content = std::move(before.content);  // sizes as they were
    }
  }

  bool between(std::size_t i, std::size_t j) const {
    const Facts& a = facts_[i];
    const Facts& b = facts_[j];
    if (a.unit->call.rank == b.unit->call.rank) return false;
    if (a.shared_etypes > 0 && b.shared_etypes > 0) return true;
    const bool a_writes = a.unit->call.step->is_write;
    const bool b_writes = b.unit->call.step->is_write;
    if (!a_writes && !b_writes) return false;
    if (overlap(a.bytes, b.bytes)) return true;
    // A read that meets the end, and a write that moves it.
    return a_writes != b_writes && end_of(a.bytes) > size_ && end_of(b.bytes) > size_;
  }

 private:
  struct Facts {
    const Unit* unit;
    Footprint bytes;
    std::int64_t shared_etypes;
  };
  std::vector<Facts> facts_;
  std::int64_t size_;
};

bool is_same(const World& a, const World& b) {
  if (a.shared != b.shared || a.pointers != b.pointers) return false;
  if (a.content.has_value() != b.content.has_value()) return false;
  return !a.content || !sim::Content::difference(*a.content, *b.content);
}

class Search {
 public:
  Search(const FileState& state, const World& world, const std::vector<Unit>& units,
         Remaining& remaining)
      : state_(state), units_(units), dependence_(state, world, units), remaining_(remaining) {}

  void from(const World& world) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < units_.size(); ++i) left.push_back(i);
    go_on(world, left);
  }

 private:
  void go_on(World world, std::vector<std::size_t> left) {
    if (orders_ >= kMaxOrders || was_here(world, left)) return;
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
    const auto free = std::ranges::find_if(next, [&](std::size_t i) {
      return std::ranges::none_of(left, [&](std::size_t j) { return dependence_.between(i, j); });
    });
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
  /// Other orders of the same units may have led to the same world.
  bool was_here(const World& world, const std::vector<std::size_t>& left) {
    std::vector<World>& worlds = visited_[left];
    if (std::ranges::any_of(worlds, [&](const World& other) { return is_same(world, other); })) {
      return true;
    }
    worlds.push_back(world);
    return false;
  }
  bool same_rank(std::size_t a, std::size_t b) const {
    return units_[a].call.rank == units_[b].call.rank;
  }

  const FileState& state_;
  const std::vector<Unit>& units_;
  Dependence dependence_;
  std::map<std::vector<std::size_t>, std::vector<World>> visited_;
  Remaining& remaining_;
  std::int64_t orders_ = 0;
};

}  // namespace

Remaining act_in_all_orders(const FileState& state, const std::vector<World>& worlds,
                            const std::vector<Unit>& units) {
  Remaining remaining;
  for (const World& world : worlds) {
    Search(state, world, units, remaining).from(world);
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
