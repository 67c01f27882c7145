#include "fuzz/group_rules.h"

#include <algorithm>
#include <cstdlib>

namespace headrace::fuzz {
namespace {

constexpr std::int64_t kMaxBytes = 200'000;      ///< of an access
constexpr std::int64_t kMaxMemory = 4'000'000;   ///< that an access's data spans
constexpr std::int64_t kEndOfFiles = 1LL << 36;  ///< no file becomes larger
constexpr std::int64_t kMaxTile = 10'000;        ///< bytes of a filetype
constexpr int kMaxUnordered = 6;                 ///< calls whose order is open

std::string problem_of_memory(const Part& part, bool is_write) {
  const Repetitions type(expand(part.memory));
  if (part.count * type.size() > kMaxBytes) return "too much data";
  if (part.count * std::abs(type.extent()) > kMaxMemory) return "too much memory";
  if (!is_write && type.has_overlap(part.count)) return "a read into overlapping memory";
  return {};
}

std::string problem_of_mode(const Mode& mode) {
  if (!mode.read && !mode.write) return "no access mode";
  if (!mode.write && (mode.create || mode.exclusive)) return "a read-only file is created";
  if (mode.sequential && mode.read && mode.write) return "a sequential file is read and written";
  return {};
}

}  // namespace

std::string problem_of_open(const World& world, const Mode& mode) {
  if (std::string problem = problem_of_mode(mode); !problem.empty()) return problem;
  if (!world.content && !mode.create) return "the file does not exist";
  if (world.content && mode.create && mode.exclusive) return "the file exists";
  return {};
}

GroupRules::GroupRules(const Program& program, Group group)
    : group_(std::move(group)), state_(Mode{}, 0), requests_(group_.ranks.size()) {
  world_.content = initial_content(program, group_);
  state_ =
      open(world_, program.files[static_cast<std::size_t>(group_.file)].mode, group_.ranks.size());
  meet(true);
}

std::string GroupRules::take(const Step& step) {
  if (size_was_set_ && step.kind != StepKind::meet && step.kind != StepKind::reopen) {
    return "the ranks did not meet after a change of size";
  }
  for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
    if (is_collective(step) && !part(step, rank).takes_part) return "a rank is missing";
  }
  switch (step.kind) {
    case StepKind::access: return access(step);
    case StepKind::wait: return wait(step);
    case StepKind::end: return end(step);
    case StepKind::seek:
    case StepKind::shared_position:
    case StepKind::byte_offset:
    case StepKind::get_size: return query(step);
    case StepKind::set_hints: return split_ ? "hints change during a split collective" : "";
    default: return together(step);
  }
}

std::string GroupRules::must_not_close() const {
  return split_ || has_requests() ? "a call was not completed" : "";
}

std::string GroupRules::access(const Step& step) {
  const bool is_shared = step.positioning == Positioning::shared;
  if (step.style == Style::split && !step.is_collective) return "only collectives are split";
  if (split_ && step.is_collective && step.style != Style::blocking) return "a call within a split";
  if (is_shared && !state_.has_one_view()) return "a shared pointer needs one view";
  if (is_shared && split_ && !step.is_collective && split_->positioning == Positioning::shared) {
    return "a shared access within an ordered one";
  }
  if (is_shared && step.is_collective && has_conflict_) return "an ordered access in an open order";
  if (split_ && step.is_collective) return {};  // refused
  if (is_shared && step.is_collective) {
    shared_askers_.clear();
    leave_shared_order();
  }
  std::int64_t before = 0;
  for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
    if (!part(step, rank).takes_part) continue;
    std::string problem = access_of_rank(step, rank, before);
    if (!problem.empty()) return problem;
    if (is_shared && step.is_collective) {
      before += shared_etypes(state_, {&step, &part(step, rank), rank});
    }
  }
  if (is_shared && step.is_collective) {
    world_.shared += before;
    shared_start_ = world_.shared;
  }
  if (step.style == Style::split) split_ = std::make_shared<const Step>(step);
  return {};
}

std::string GroupRules::access_of_rank(const Step& step, std::size_t rank, std::int64_t before) {
  const Part& mine = part(step, rank);
  const Call call{&step, &mine, rank};
  const bool is_blocking = step.style == Style::blocking;
  const bool is_shared = step.positioning == Positioning::shared;
  if (const std::vector<std::string> errors = errors_of(state_, call); !errors.empty()) {
    return is_blocking && errors.size() == 1 ? "" : "an erroneous call begins";
  }
  if (std::string problem = problem_of_memory(mine, step.is_write); !problem.empty()) {
    return problem;
  }
  const ViewMap& view = state_.maps[rank];
  const std::int64_t wanted = wanted_bytes(mine);
  if (wanted > 0 && view.shows_nothing() && (!is_blocking || is_shared)) return "an empty view";
  if (wanted > 0 && step.is_write && !view.is_ascending()) return "a write through such a view";
  if (step.style == Style::nonblocking) requests_[rank].push_back(step.id);

  const std::int64_t start = start_of(world_, call, before);
  if (start > kEndOfFiles) return "an offset is too large";
  Touch touch{static_cast<int>(rank),
              step.is_write,
              !is_blocking,
              step.id,
              is_blocking && !is_shared,
              footprint(view, start, wanted)};
  if (is_shared && !step.is_collective) {
    return access_of_shared_pointer(step, call, touch);
  }
  if (std::string problem = this->touch(touch, step); !problem.empty()) return problem;
  // Growth is done by hand: contents do not matter here.
  const std::int64_t end = end_of(touch.bytes);
  if (step.is_write && end > world_.size()) {
    world_.content->resize(end);
    growing_requests_.insert(step.id);
  }
  if (step.positioning == Positioning::individual) {
    std::int64_t moved = view.shows_nothing() ? 0 : wanted;
    if (!step.is_write && is_blocking && end > world_.size()) {
      moved = 0;
      while (view.offset_of(start * view.unit() + moved) < world_.size()) ++moved;
    }
    world_.pointers[rank] = start + moved / view.unit();
  }
  return {};
}

/// Its place is open, but all accesses since the pointer was last known fill one stretch of the
/// view.
std::string GroupRules::access_of_shared_pointer(const Step& step, const Call& call, Touch& touch) {
  const int rank = static_cast<int>(call.rank);
  if (std::ranges::any_of(shared_askers_, [&](int other) { return other != rank; })) {
    return "another rank asked for the shared pointer";
  }
  shared_ranks_.insert(rank);
  shared_accesses_ += 1;
  (step.is_write ? shared_writes_ : shared_reads_) = true;
  shared_in_flight_ = shared_in_flight_ || step.style != Style::blocking;
  if (shared_writes_ && shared_reads_ && shared_in_flight_) {
    return "shared reads that may meet the end before or after writes move it";
  }
  if (shared_ranks_.size() > 1) {
    if (shared_writes_ && shared_reads_) return "shared reads and writes in an open order";
    if (unsettled_ + shared_accesses_ > kMaxUnordered - 1 || has_conflict_) {
      return "too many orders";
    }
  }
  world_.shared += shared_etypes(state_, call);
  const ViewMap& view = state_.maps[call.rank];
  const std::int64_t etypes = world_.shared - shared_start_;
  touch = {kSeveral, step.is_write || shared_writes_,
           false,    -1,
           false,    footprint(view, shared_start_, etypes * view.unit())};
  std::erase_if(touched_, [](const Touch& other) { return other.id == -1; });
  if (std::string problem = this->touch(touch, step); !problem.empty()) return problem;
  if (step.is_write && end_of(touch.bytes) > world_.size()) {
    world_.content->resize(end_of(touch.bytes));
  }
  // Wherever it comes to lie, it may be the last.
  if (shared_writes_) growing_requests_.insert(step.id);
  return {};
}

/// Adds what a call touches, unless it conflicts with calls that may come before or after it.
std::string GroupRules::touch(Touch touch, const Step& step) {
  if (!touch.bytes.empty() &&
      (touch.bytes.front().first < 0 || end_of(touch.bytes) > kEndOfFiles)) {
    return "out of reach";
  }
  if (touch.is_plain) plain_accesses_ += 1;
  for (const Touch& other : touched_) {
    const bool is_own = other.rank == touch.rank && touch.rank != kSeveral && !other.in_flight;
    if (is_own || (!other.writes && !touch.writes)) continue;
    if (!overlap(other.bytes, touch.bytes)) continue;
    if (!state_.atomic || !touch.is_plain || !other.is_plain) return "a conflict";
    if (shared_ranks_.size() > 1) return "too many orders";
    has_conflict_ = true;
  }
  if (has_conflict_ && plain_accesses_ > kMaxUnordered) return "too many orders";
  if (std::string problem = grow_or_ask(touch, step.style == Style::blocking); !problem.empty()) {
    return problem;
  }
  if (!touch.bytes.empty()) touched_.push_back(std::move(touch));
  return {};
}

std::string GroupRules::grow_or_ask(const Touch& touch, bool is_blocking) {
  if (end_of(touch.bytes) <= settled_size_) return {};
  const int rank = is_blocking ? touch.rank : kSeveral;
  if (!touch.writes) return ask_size(rank);
  for (const int asker : askers_) {
    if (asker != rank || rank == kSeveral) return "the size that a rank saw may change";
  }
  growers_.insert(rank);
  return {};
}

std::string GroupRules::ask_size(int rank) {
  for (const int grower : growers_) {
    if (grower != rank || rank == kSeveral) return "the size is not settled";
  }
  askers_.insert(rank);
  return {};
}

std::string GroupRules::wait(const Step& step) {
  for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
    for (const int id : part(step, rank).waits) {
      std::vector<int>& mine = requests_[rank];
      const auto found = std::ranges::find(mine, id);
      if (found == mine.end()) return "no such request";
      mine.erase(found);
      if (step.cancels && growing_requests_.contains(id)) return "the size depends on a cancel";
      complete(id, static_cast<int>(rank));
    }
  }
  return {};
}

std::string GroupRules::end(const Step& step) {
  if (!split_ || split_->is_write != step.is_write || split_->positioning != step.positioning) {
    return {};  // refused
  }
  complete(split_->id, kSeveral);
  split_.reset();
  return {};
}

void GroupRules::complete(int id, int rank) {
  for (Touch& touch : touched_) {
    if (touch.id == id && (rank == kSeveral || touch.rank == rank)) touch.in_flight = false;
  }
}

std::string GroupRules::query(const Step& step) {
  const bool is_end = step.kind == StepKind::seek && step.whence == Whence::end;
  if (state_.mode.sequential && step.kind != StepKind::get_size) return "a sequential file";
  for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
    if (!part(step, rank).takes_part) continue;
    const int number = static_cast<int>(rank);
    if (is_end || step.kind == StepKind::get_size) {
      if (std::string problem = ask_size(number); !problem.empty()) return problem;
    }
    if (step.kind == StepKind::shared_position) {
      if (std::ranges::any_of(shared_ranks_, [&](int other) { return other != number; })) {
        return "the shared pointer is not settled";
      }
      shared_askers_.insert(number);
    }
    carry_out_query(world_, state_, {&step, &part(step, rank), rank});
  }
  return {};
}

std::string GroupRules::together(const Step& step) {
  if (split_ || has_requests()) return "a call was not completed";
  const bool meets = step.kind == StepKind::meet || step.kind == StepKind::reopen;
  if (has_conflict_ && !meets) return "a step in an open order";
  switch (step.kind) {
    case StepKind::set_view: return set_view(step);
    case StepKind::seek_shared: return seek_all(step);
    case StepKind::reopen: return reopen(step);
    case StepKind::meet: meet(step.looks); return {};
    case StepKind::sync: return {};
    default: break;
  }
  if (!touched_.empty() || !growers_.empty() || !askers_.empty()) return "the ranks did not meet";
  if (step.kind == StepKind::set_atomicity) {
    state_.atomic = step.atomic;
    return {};
  }
  if (!state_.mode.write) return "a read-only file";
  if (step.value < 0 || step.value > kEndOfFiles) return "out of reach";
  const bool cuts = step.kind == StepKind::set_size;
  world_.content->resize(cuts ? step.value : std::max(step.value, world_.size()));
  size_was_set_ = true;
  return {};
}

std::string GroupRules::set_view(const Step& step) {
  if (!shared_askers_.empty()) return "a rank asked for the shared pointer";
  std::vector<const Part*> parts;
  for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
    const Part& mine = part(step, rank);
    if (mine.view.current != state_.mode.sequential) return "a displacement of the wrong kind";
    const TypeMap filetype = expand(mine.view.filetype);
    if (filetype.size() > kMaxTile) return "a large filetype";
    if (filetype.lowest() < 0) return "a filetype with negative displacements";
    parts.push_back(&mine);
  }
  std::optional<FileState> next = with_views(world_, state_, parts);
  if (!next) return {};  // refused
  if (state_.mode.sequential && !next->has_one_view()) return "a sequential file needs one view";
  state_ = std::move(*next);
  world_.pointers.assign(world_.pointers.size(), 0);
  world_.shared = shared_start_ = 0;
  leave_shared_order();
  for (Touch& touch : touched_) {
    if (touch.id == -1) touch.id = -2;  // the stretch of another pointer now
  }
  return {};
}

std::string GroupRules::seek_all(const Step& step) {
  if (state_.mode.sequential) return "a sequential file";
  if (!state_.has_one_view()) return "a shared pointer needs one view";
  if (!shared_askers_.empty() || !shared_ranks_.empty()) return "the shared pointer is in use";
  if (step.whence == Whence::end) {
    if (std::string problem = ask_size(kSeveral); !problem.empty()) return problem;
  }
  seek_shared(world_, state_, step);
  shared_start_ = world_.shared;
  return {};
}

std::string GroupRules::reopen(const Step& step) {
  if (state_.mode.delete_on_close) world_.content.reset();
  if (std::string problem = problem_of_open(world_, step.mode); !problem.empty()) return problem;
  state_ = open(world_, step.mode, group_.ranks.size());
  meet(true);
  return {};
}

void GroupRules::meet(bool looks) {
  touched_.clear();
  settled_size_ = world_.size();
  growers_.clear();
  askers_.clear();
  shared_askers_.clear();
  size_was_set_ = has_conflict_ = false;
  plain_accesses_ = 0;
  shared_start_ = world_.shared;
  leave_shared_order();
  if (looks) unsettled_ = 0;
}

/// What follows does not depend on the order of the accesses by the shared pointer, but what they
/// have written does.
void GroupRules::leave_shared_order() {
  if (shared_ranks_.size() > 1 && shared_writes_) unsettled_ += shared_accesses_;
  shared_ranks_.clear();
  shared_accesses_ = 0;
  shared_reads_ = shared_writes_ = shared_in_flight_ = false;
}

bool GroupRules::has_requests() const {
  return std::ranges::any_of(requests_, [](const auto& of_rank) { return !of_rank.empty(); });
}

const Part& GroupRules::part(const Step& step, std::size_t rank) const {
  return step.parts[static_cast<std::size_t>(group_.ranks[rank])];
}

}  // namespace headrace::fuzz
