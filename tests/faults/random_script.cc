#include <tuple>

#include "faults/script.h"
#include "sim/random.h"
#include "sim/requests.h"
#include "sim/scenario.h"

namespace headrace::faults {
namespace {

using sim::Random;

/// Writes the steps of a script, with the individual pointers as they are where nothing fails.
class Writer {
 public:
  Writer(Random& random, Script& script) : random_(random), script_(script) {}

  void write(std::int64_t steps) {
    set_view();
    for (std::int64_t i = 0; i < steps; ++i) add_step();
  }

 private:
  void set_view() {
    Step step = step_of(StepKind::set_view, script_.ranks());
    is_common_ = random_.chance(25);
    std::vector<View> views;
    if (is_common_) {
      const TypeTree unit = basic(random_.one_of<std::int64_t>({1, 4, 8}));
      views.assign(step.parts.size(), {random_.number(0, 5'000), false, unit, unit});
    } else {
      views = sim::disjoint_views(random_, script_.ranks());
    }
    for (std::size_t rank = 0; rank < views.size(); ++rank) step.parts[rank].view = views[rank];
    views_ = sim::maps_of(views);
    pointers_.assign(views.size(), 0);
    spoil(step, 4);
    script_.steps.push_back(std::move(step));
  }

  void spoil(Step& step, int percent) {
    // Alone, a rank has nobody to differ from.
    if (script_.ranks() > 1 && random_.chance(percent)) {
      const std::int64_t rank = random_.number(0, script_.ranks() - 1);
      step.parts[static_cast<std::size_t>(rank)].wrong = true;
    }
  }

  void add_step() {
    const std::int64_t dice = random_.number(1, 100);
    if (dice <= 74) return access();
    if (dice <= 82) return set_view();
    Step step = step_of(dice <= 86   ? StepKind::set_size
                        : dice <= 89 ? StepKind::preallocate
                        : dice <= 94 ? StepKind::sync
                        : dice <= 96 ? StepKind::get_size
                        : dice <= 98 ? StepKind::set_atomicity
                                     : StepKind::seek_shared,
                        script_.ranks());
    step.value =
        step.kind == StepKind::seek_shared ? random_.number(0, 2'000) : random_.number(0, 200'000);
    step.atomic = random_.chance(70);
    if (step.kind != StepKind::sync && step.kind != StepKind::get_size) spoil(step, 10);
    script_.steps.push_back(std::move(step));
  }

  void access() {
    static const std::vector<std::pair<Style, Ending>> kWays{{Style::blocking, Ending::at_once},
                                                             {Style::blocking, Ending::at_once},
                                                             {Style::nonblocking, Ending::at_once},
                                                             {Style::split, Ending::at_once},
                                                             {Style::nonblocking, Ending::never}};
    Step step = step_of(StepKind::access, script_.ranks());
    step.is_write = random_.chance(70);
    step.is_collective = random_.chance(70);
    std::tie(step.style, step.ending) = random_.one_of(kWays);
    step.positioning = is_common_           ? Positioning::shared
                       : random_.chance(60) ? Positioning::explicit_offset
                                            : Positioning::individual;
    if (step.style == Style::split && !step.is_collective) step.style = Style::blocking;
    const bool is_ordered = step.positioning == Positioning::shared && step.is_collective;
    if (is_ordered && step.style != Style::split) step.style = Style::blocking;
    const auto most = random_.one_of<ByteCount>({300, 3'000, 20'000});
    const int idle = random_.one_of<int>({0, 0, 40});
    for (std::size_t rank = 0; rank < views_.size(); ++rank) {
      Part& part = step.parts[rank];
      part = sim::make_request(random_, step.is_write, views_[rank], pointers_[rank], most);
      part.at_pointer = false;
      if (views_[rank].shows_nothing() || random_.chance(idle)) part.count = 0;
      if (step.positioning == Positioning::individual) {
        pointers_[rank] += wanted_bytes(part) / views_[rank].unit();
      }
    }
    spoil(step, 4);
    script_.steps.push_back(std::move(step));
  }

  Random& random_;
  Script& script_;
  std::vector<ViewMap> views_;
  std::vector<std::int64_t> pointers_;
  bool is_common_ = false;
};

Fault random_fault(Random& random, Layer layer) {
  // What happens often in a run is struck often.
  static const std::vector<Operation> operations{
      Operation::open,     Operation::read,   Operation::read,   Operation::read,
      Operation::write,    Operation::write,  Operation::write,  Operation::write,
      Operation::write,    Operation::write,  Operation::size,   Operation::resize,
      Operation::allocate, Operation::sync,   Operation::sync,   Operation::lock,
      Operation::close,    Operation::remove, Operation::memory, Operation::memory,
      Operation::share,    Operation::thread};
  Fault fault;
  do {
    fault.operation = random.one_of(operations);
    fault.kind = static_cast<Kind>(random.number(0, kKinds - 1));
  } while (why_not(layer, fault.operation, fault.kind) != nullptr);
  fault.scope = random.one_of<Scope>({Scope::once, Scope::once, Scope::lasting, Scope::one_rank});
  const std::int64_t most =
      fault.operation == Operation::memory                                        ? 400
      : fault.operation == Operation::write || fault.operation == Operation::read ? 60
                                                                                  : 4;
  fault.nth = random.number(0, 1) * random.number(0, most);
  fault.moved_share = static_cast<int>(random.number(0, 1) * random.number(0, 255));
  return fault;
}

}  // namespace

Script random_script(std::uint64_t seed) {
  Random random(seed);
  Script script;
  script.name = "seed " + std::to_string(seed);
  script.layer = random.chance(50) ? Layer::store : Layer::system;
  script.nodes = sim::random_nodes(random, static_cast<int>(random.number(1, 5)));
  script.mode.create = random.chance(30);
  script.mode.delete_on_close = random.chance(10);
  script.hints = sim::random_hints(random);
  if (random.chance(60)) {
    for (const char* const hint : {"headrace_write_path", "headrace_read_path"}) {
      script.hints[hint] = random.chance(30) ? "direct" : "staged";
    }
  }
  script.delay_every = random.chance(20) ? static_cast<int>(random.number(3, 40)) : 0;
  script.learns_late = random.chance(40);
  script.before.resize(static_cast<std::size_t>(random.number(0, 1) * random.number(0, 100'000)));
  for (std::size_t i = 0; i < script.before.size(); ++i) {
    script.before[i] = sim::random_byte(seed, static_cast<std::int64_t>(i));
  }
  Writer(random, script).write(random.number(1, 8));
  return script;
}

std::vector<Fault> random_faults(std::uint64_t seed, const Script& script) {
  Random random(seed ^ 0x5eed);
  std::vector<Fault> faults;
  for (std::int64_t i = random.number(1, 3); i > 0; --i) {
    faults.push_back(random_fault(random, script.layer));
  }
  return faults;
}

}  // namespace headrace::faults
