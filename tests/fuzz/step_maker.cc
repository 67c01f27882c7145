#include "fuzz/step_maker.h"

#include <algorithm>
#include <numeric>

#include "fuzz/types.h"

namespace headrace::fuzz {

Hints random_hints(sim::Random& random) {
  Hints hints;
  const std::vector<std::string> paths{"direct",    "staged",    "staged",
                                       "exchanged", "exchanged", "automatic"};
  if (random.chance(80)) hints["headrace_write_path"] = random.one_of(paths);
  if (random.chance(80)) hints["headrace_read_path"] = random.one_of(paths);
  if (random.chance(75)) hints["cb_buffer_size"] = "65536";
  if (random.chance(15)) hints["striping_unit"] = random.one_of<std::string>({"8192", "131072"});
  if (random.chance(40)) hints["ind_rd_buffer_size"] = random.one_of<std::string>({"4096", "5000"});
  if (random.chance(30)) hints["cb_nodes"] = std::to_string(random.number(1, 12));
  return hints;
}

StepMaker::StepMaker(sim::Random& random, Program& program, const Features& features)
    : random_(random), program_(program), features_(features), rules_(program) {}

void StepMaker::begin(int file) {
  if (random_.chance(65)) add_or_meet(set_view(file));
}

void StepMaker::add_step(int file) {
  const StepKind kind = next_kind(file);
  switch (kind) {
    case StepKind::access: return add_access(access(file));
    case StepKind::wait: return wait(file);
    case StepKind::end: return end(file, !features_.errors || random_.chance(95));
    case StepKind::meet: return meet(file);
    case StepKind::seek:
    case StepKind::byte_offset: {
      Step step = seek(file);
      step.kind = kind;
      add_or_meet(std::move(step));
      return;
    }
    case StepKind::seek_shared: {
      Step step = make(file, kind);
      step.whence = random_.one_of<Whence>({Whence::set, Whence::current, Whence::end});
      step.value = step.whence == Whence::set ? random_.number(0, 60) : random_.number(-8, 20);
      add_or_meet(std::move(step));
      return;
    }
    case StepKind::set_view: add_or_meet(set_view(file)); return;
    case StepKind::set_size:
    case StepKind::preallocate:
      if (add_or_meet(set_size(file, kind))) meet(file);
      return;
    case StepKind::reopen: add_or_meet(reopen(file)); return;
    case StepKind::set_hints: {
      Step step = make(file, kind);
      step.hints = random_hints(random_);
      add(std::move(step));
      return;
    }
    default: {
      Step step = make(file, kind);
      if (kind == StepKind::set_atomicity) step.atomic = random_.chance(75);
      add_or_meet(std::move(step));
    }
  }
}

StepKind StepMaker::next_kind(int file) {
  const GroupRules& group = first_group(file);
  if (group.split() != nullptr && random_.chance(40)) return StepKind::end;
  if (has_requests(file) && random_.chance(35)) return StepKind::wait;
  const std::int64_t dice = random_.number(1, 100);
  if (dice <= 56) return StepKind::access;
  if (dice <= 68) return StepKind::set_view;
  if (dice <= 74) return StepKind::seek;
  if (dice <= 76) return features_.shared ? StepKind::seek_shared : StepKind::seek;
  if (dice <= 79) return features_.shared ? StepKind::shared_position : StepKind::access;
  if (dice <= 81) return StepKind::byte_offset;
  if (dice <= 83) return StepKind::set_size;
  if (dice <= 84) return StepKind::preallocate;
  if (dice <= 87) return StepKind::get_size;
  if (dice <= 89) return StepKind::set_hints;
  if (dice <= 93) return features_.atomic ? StepKind::set_atomicity : StepKind::access;
  if (dice <= 94) return StepKind::sync;
  if (dice <= 97) return StepKind::meet;
  return StepKind::reopen;
}

Step StepMaker::make(int file, StepKind kind) {
  Step step;
  step.file = file;
  step.kind = kind;
  step.id = next_id_++;
  step.parts.resize(static_cast<std::size_t>(program_.ranks()));
  if (!is_collective(step) && kind != StepKind::wait && random_.chance(40)) {
    for (Part& part : step.parts) part.takes_part = random_.chance(40);
  }
  return step;
}

bool StepMaker::add(Step step) {
  if (!rules_.take(step).empty()) return false;
  program_.steps.push_back(std::move(step));
  return true;
}

bool StepMaker::add_or_meet(Step step) {
  if (add(step)) return true;
  meet(step.file);
  return add(std::move(step));
}

void StepMaker::meet(int file) {
  complete_all(file);
  Step step = make(file, StepKind::meet);
  step.looks = random_.chance(25);
  for (const GroupRules& group : rules_.groups()) {
    if (group.group().file == file && group.has_open_order()) step.looks = true;
  }
  add(std::move(step));
}

void StepMaker::complete_all(int file) {
  if (first_group(file).split() != nullptr) end(file, true);
  if (!has_requests(file)) return;
  Step step = make(file, StepKind::wait);
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    const Place place = place_of(file, rank);
    std::vector<int> waits = place.group->requests(place.rank);
    random_.shuffle(waits);
    step.parts[static_cast<std::size_t>(rank)].waits = std::move(waits);
  }
  step.completion = static_cast<Completion>(random_.number(0, 7));
  add(std::move(step));
}

Step StepMaker::access(int file) {
  Step step = make(file, StepKind::access);
  choose_function(step);
  if (step.is_collective) {
    for (Part& part : step.parts) part.takes_part = true;
  }
  const auto most =
      random_.chance(2) ? 100'000 : random_.one_of<std::int64_t>({8, 60, 300, 300, 2'000, 9'000});
  const int idle = random_.one_of<int>({0, 0, 20, 60});
  const bool has_offsets = step.positioning == Positioning::explicit_offset;
  const int border_chance = !has_offsets ? 0 : step.is_collective ? 35 : 15;
  const bool has_window = random_.chance(border_chance);
  const std::int64_t window = has_window ? random_.one_of<std::int64_t>({1, 1, 1, 2}) : 0;
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    Part& part = step.parts[static_cast<std::size_t>(rank)];
    if (!part.takes_part) continue;
    fill_part(step, rank, part, most);
    if (window > 0) lie_around_border(rank, file, window, part);
    if (random_.chance(idle)) part.count = 0;
  }
  if (features_.errors && step.style == Style::blocking && random_.chance(4)) spoil(step);
  return step;
}

void StepMaker::choose_function(Step& step) {
  const GroupRules& group = first_group(step.file);
  const Mode& mode = group.state().mode;
  const bool shares = features_.shared && group.state().has_one_view();
  const int write_chance = !mode.write ? 3 : !mode.read ? 97 : 55;
  step.is_write = random_.chance(features_.errors ? write_chance : write_chance < 50 ? 0 : 100);
  if (mode.read && mode.write) step.is_write = random_.chance(55);
  step.is_collective = random_.chance(60);
  step.positioning =
      random_.one_of<Positioning>({Positioning::explicit_offset, Positioning::individual});
  if (shares && random_.chance(40)) step.positioning = Positioning::shared;
  if (mode.sequential && random_.chance(97)) step.positioning = Positioning::shared;
  if (features_.nonblocking && random_.chance(35)) step.style = Style::nonblocking;
  // MPI has no nonblocking ordered functions.
  if (step.is_collective && step.positioning == Positioning::shared) step.style = Style::blocking;
  if (features_.split && step.is_collective && random_.chance(25)) step.style = Style::split;
  if (group.state().atomic && random_.chance(60) && !mode.sequential) {
    step.positioning = Positioning::explicit_offset;
    step.style = Style::blocking;
  }
}

void StepMaker::fill_part(const Step& step, int rank, Part& part, std::int64_t most_bytes) {
  const Place place = place_of(step.file, rank);
  const ViewMap& view = place.group->state().maps[place.rank];
  part.memory = memory_type(random_, step.is_write);
  const std::int64_t size = expand(part.memory).size();
  const std::int64_t whole = size == 0 ? 1 : view.unit() / std::gcd(view.unit(), size);
  const std::int64_t wanted = random_.number(0, most_bytes);
  part.count = size == 0 ? random_.number(0, 3) : (wanted / size + whole - 1) / whole * whole;
  if (step.positioning == Positioning::explicit_offset) {
    const bool may_conflict = place.group->state().atomic;
    part.offset = may_conflict && random_.chance(70) ? random_.number(0, 3)
                                                     : random_offset(*place.group, place.rank);
  }
  part.absolute = random_.chance(8);
}

/// Lets data lie around a border of windows, or end there: bytes are lost, and neighbours missed,
/// at borders.
void StepMaker::lie_around_border(int rank, int file, std::int64_t window, Part& part) {
  constexpr std::int64_t kWindow = 65'536;
  const Place place = place_of(file, rank);
  const ViewMap& view = place.group->state().maps[place.rank];
  if (view.shows_nothing() || !view.is_ascending()) return;
  const std::int64_t border = (view.displacement() / kWindow + window) * kWindow;
  const std::int64_t below = view.etypes_below(border);
  part.offset = std::max<std::int64_t>(0, below - random_.number(1, 200));
  if (random_.chance(50)) return;
  part.memory = basic(1);
  part.count = (below - part.offset) * view.unit();
}

std::int64_t StepMaker::random_offset(const GroupRules& group, std::size_t rank) {
  const ViewMap& view = group.state().maps[rank];
  switch (random_.number(0, 9)) {
    case 0:
    case 1:
    case 2: return 0;
    case 3:
    case 4:
      if (!view.is_ascending() || view.shows_nothing()) return 0;
      // Around the end of the file, unless it is far away.
      if (group.world().size() > 10'000'000 && view.displacement() < 10'000'000) return 1;
      return std::max<std::int64_t>(
          0, view.etypes_below(group.world().size()) - random_.number(-2, 40));
    case 5: return random_.number(0, 20'000) / view.unit();
    default: return random_.number(0, 60);
  }
}

void StepMaker::spoil(Step& step) {
  Part& part = step.parts[static_cast<std::size_t>(random_.number(0, program_.ranks() - 1))];
  if (!part.takes_part) return;
  switch (random_.number(0, 2)) {
    case 0: part.count = -1; break;
    case 1: part.offset = -1; break;
    default: part.count += 1;  // perhaps no whole etypes
  }
}

/// Ranks whose data would conflict with others' take part with less or none.
void StepMaker::add_access(Step step) {
  if (add(step)) return;
  if (random_.chance(50)) meet(step.file);
  for (int i = 0; i < 4; ++i) {
    if (add(step)) return;
    for (Part& part : step.parts) {
      if (random_.chance(50))
        part.count = 0;
      else if (random_.chance(30) && part.count > 0)
        part.count = 0;
    }
  }
  meet(step.file);
  if (add(step)) return;
  step.style = Style::blocking;
  for (Part& part : step.parts) part.count = std::min<std::int64_t>(part.count, 0);
  add(std::move(step));
}

void StepMaker::wait(int file) {
  Step step = make(file, StepKind::wait);
  step.completion = static_cast<Completion>(random_.number(0, 7));
  step.cancels = random_.chance(15);
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    const Place place = place_of(file, rank);
    std::vector<int> waits = place.group->requests(place.rank);
    random_.shuffle(waits);
    if (random_.chance(50))
      waits.resize(static_cast<std::size_t>(random_.number(0, std::ssize(waits))));
    step.parts[static_cast<std::size_t>(rank)].waits = std::move(waits);
  }
  if (add(step)) return;
  step.cancels = false;
  add(std::move(step));
}

void StepMaker::end(int file, bool rightly) {
  const Step* const split = first_group(file).split();
  if (split == nullptr) return;
  Step step = make(file, StepKind::end);
  step.is_collective = true;
  step.style = Style::split;
  step.is_write = split->is_write == rightly;
  step.positioning = split->positioning;
  add(std::move(step));
}

Step StepMaker::seek(int file) {
  Step step = make(file, StepKind::seek);
  step.whence = random_.one_of<Whence>({Whence::set, Whence::current, Whence::end});
  for (Part& part : step.parts) {
    part.offset = step.whence == Whence::set ? random_.number(0, 90) : random_.number(-20, 30);
  }
  return step;
}

Step StepMaker::set_view(int file) {
  Step step = make(file, StepKind::set_view);
  const FileState& state = first_group(file).state();
  const bool is_sequential = state.mode.sequential;
  // One view for all: shared pointers ask for it, and in atomic mode the ranks' data conflicts.
  const int same_chance = state.atomic ? 60 : features_.shared ? 35 : 0;
  ViewUse use;
  use.same_for_all = is_sequential || random_.chance(same_chance);
  use.is_large = features_.large_files && random_.chance(40);
  use.is_written = state.mode.write;
  const std::vector<View> views = random_views(random_, program_.ranks(), use);
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    View& view = step.parts[rank].view;
    view = views[rank];
    if (!is_sequential) continue;
    view.current = true;
    view.displacement = 0;
  }
  if (features_.errors && !is_sequential && random_.chance(2)) {
    step.parts[static_cast<std::size_t>(random_.number(0, program_.ranks() - 1))]
        .view.displacement = -7;
  }
  return step;
}

Step StepMaker::set_size(int file, StepKind kind) {
  Step step = make(file, kind);
  std::int64_t size = first_group(file).world().size();
  // Real file systems have no gigabytes to give.
  if (kind == StepKind::preallocate && size > 10'000'000) size = 0;
  step.value = random_.chance(20)   ? 0
               : random_.chance(50) ? std::max<std::int64_t>(0, size + random_.number(-500, 500))
                                    : random_.number(0, 150'000);
  return step;
}

Step StepMaker::reopen(int file) {
  Step step = make(file, StepKind::reopen);
  step.mode = program_.files[static_cast<std::size_t>(file)].mode;
  step.mode.exclusive = false;
  if (!step.mode.sequential && random_.chance(30)) {
    step.mode.read = random_.chance(80);
    step.mode.write = !step.mode.read || random_.chance(80);
  }
  step.mode.create = step.mode.write;
  step.mode.append = random_.chance(15);
  step.mode.delete_on_close = random_.chance(6);
  step.hints = random_hints(random_);
  return step;
}

StepMaker::Place StepMaker::place_of(int file, int rank) const {
  for (const GroupRules& group : rules_.groups()) {
    if (group.group().file != file) continue;
    const std::vector<int>& ranks = group.group().ranks;
    const auto found = std::ranges::find(ranks, rank);
    if (found != ranks.end()) return {&group, static_cast<std::size_t>(found - ranks.begin())};
  }
  return {&rules_.groups().front(), 0};
}

bool StepMaker::has_requests(int file) const {
  return std::ranges::any_of(rules_.groups(), [&](const GroupRules& group) {
    if (group.group().file != file) return false;
    for (std::size_t rank = 0; rank < group.group().ranks.size(); ++rank) {
      if (!group.requests(rank).empty()) return true;
    }
    return false;
  });
}

}  // namespace headrace::fuzz
