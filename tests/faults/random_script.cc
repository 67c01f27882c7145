#include "faults/script.h"
#include "sim/random.h"
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
    Step step;
    step.kind = StepKind::set_view;
    is_common_ = random_.chance(25);
    if (is_common_) {
      const sim::Pair unit = sim::basic(random_.one_of<std::int64_t>({1, 4, 8}));
      const FileOffset displacement = random_.number(0, 5'000);
      for (int rank = 0; rank < script_.ranks(); ++rank) {
        step.views.emplace_back(displacement, unit, unit);
      }
    } else {
      step.views = sim::disjoint_views(random_, script_.ranks());
    }
    views_ = step.views;
    pointers_.assign(views_.size(), 0);
    spoil(step, 4);
    script_.steps.push_back(std::move(step));
  }

  void spoil(Step& step, int percent) {
    // Alone, a rank has nobody to differ from.
    if (script_.ranks() > 1 && random_.chance(percent)) {
      step.invalid_rank = static_cast<int>(random_.number(0, script_.ranks() - 1));
    }
  }

  void add_step() {
    const std::int64_t dice = random_.number(1, 100);
    if (dice <= 74) return transfer();
    if (dice <= 82) return set_view();
    Step step;
    step.kind = dice <= 86   ? StepKind::resize
                : dice <= 89 ? StepKind::allocate
                : dice <= 94 ? StepKind::sync
                : dice <= 96 ? StepKind::get_size
                : dice <= 98 ? StepKind::set_atomicity
                             : StepKind::seek_shared;
    step.size =
        step.kind == StepKind::seek_shared ? random_.number(0, 2'000) : random_.number(0, 200'000);
    step.atomic = random_.chance(70);
    if (step.kind != StepKind::sync && step.kind != StepKind::get_size) spoil(step, 10);
    script_.steps.push_back(std::move(step));
  }

  void transfer() {
    Step step;
    step.direction = random_.chance(70) ? Direction::write : Direction::read;
    step.collective = random_.chance(70);
    step.style = random_.one_of<Style>(
        {Style::blocking, Style::blocking, Style::nonblocking, Style::split, Style::unwaited});
    step.positioning = is_common_           ? Positioning::shared
                       : random_.chance(60) ? Positioning::explicit_offset
                                            : Positioning::pointer;
    if (step.style == Style::split && !step.collective) step.style = Style::blocking;
    const bool is_ordered = step.positioning == Positioning::shared && step.collective;
    if (is_ordered && step.style != Style::split) step.style = Style::blocking;
    const auto most = random_.one_of<ByteCount>({300, 3'000, 20'000});
    const int idle = random_.one_of<int>({0, 0, 40});
    for (std::size_t rank = 0; rank < views_.size(); ++rank) {
      Request request = make_request(random_, step.direction, views_[rank], pointers_[rank], most);
      if (step.positioning == Positioning::explicit_offset) {
        if (!request.offset) request.offset = 0;
      } else {
        request.offset.reset();
      }
      if (views_[rank].is_empty() || random_.chance(idle)) empty(request);
      if (step.positioning == Positioning::pointer) {
        pointers_[rank] += request.wanted() / views_[rank].unit();
      }
      step.requests.push_back(std::move(request));
    }
    spoil(step, 4);
    script_.steps.push_back(std::move(step));
  }

  Random& random_;
  Script& script_;
  std::vector<ViewModel> views_;
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
