#include <cerrno>

#include "sim/fault_case.h"

namespace headrace::sim {
namespace {

Fault random_transfer_fault(Random& random, Direction direction, int ranks) {
  Fault fault;
  const bool writes = direction == Direction::write;
  fault.operation = writes ? Operation::write : Operation::read;
  fault.system_error = writes ? random.one_of<int>({EIO, ENOSPC, EDQUOT, EFBIG, EACCES})
                              : random.one_of<int>({EIO, ESTALE});
  if (random.chance(40)) fault.rank = static_cast<int>(random.number(0, ranks - 1));
  if (random.chance(50)) {
    fault.nth = random.number(0, 12);
    fault.moved_before = random.number(0, 1) * random.number(0, 30'000);
  } else {
    fault.beyond = random.number(0, 3) * random.number(0, 100'000);
  }
  return fault;
}

Fault whole_fault(Random& random, Operation operation, int ranks) {
  Fault fault;
  fault.operation = operation;
  fault.system_error = random.one_of<int>({EIO, ENOSPC, EACCES});
  fault.rank = static_cast<int>(random.number(0, ranks - 1));
  return fault;
}

FaultStep random_transfer(Random& random, const std::vector<ViewModel>& views) {
  FaultStep step;
  step.direction = random.chance(70) ? Direction::write : Direction::read;
  step.collective = random.chance(80);
  const auto most = random.one_of<ByteCount>({300, 5'000, 40'000});
  const int idle = random.one_of<int>({0, 0, 40});
  for (const ViewModel& view : views) {
    Request request = make_request(random, step.direction, view, 0, most);
    if (!request.offset) request.offset = 0;
    if (view.is_empty() || random.chance(idle)) empty(request);
    step.requests.push_back(std::move(request));
  }
  return step;
}

}  // namespace

FaultCase make_fault_case(std::uint64_t seed) {
  Random random(seed);
  FaultCase made;
  made.nodes = random_nodes(random, random_rank_count(random));
  const int ranks = made.ranks();
  made.mode = {.read = true, .write = true};
  made.mode.create = random.chance(30);
  made.mode.delete_on_close = random.chance(10);
  made.hints = random_hints(random);
  made.delay_every = random.chance(40) ? static_cast<int>(random.number(3, 40)) : 0;
  made.before.resize(static_cast<std::size_t>(random.number(0, 1) * random.number(0, 400'000)));
  for (std::size_t i = 0; i < made.before.size(); ++i) {
    made.before[i] = random_byte(seed, static_cast<std::int64_t>(i));
  }
  if (random.chance(10)) made.at_open = whole_fault(random, Operation::open, ranks);
  if (random.chance(15)) made.at_close = whole_fault(random, Operation::close, ranks);
  std::vector<ViewModel> views;
  for (std::int64_t i = random.number(1, 6); i > 0; --i) {
    const bool changes_view = views.empty() || random.chance(20);
    if (changes_view) views = disjoint_views(random, ranks);
    FaultStep step = random_transfer(random, views);
    if (changes_view) step.views = views;
    const std::int64_t dice = random.number(1, 20);
    if (dice <= 3) {
      step.kind = dice == 1   ? FaultStepKind::resize
                  : dice == 2 ? FaultStepKind::allocate
                              : FaultStepKind::sync;
      step.size = random.number(0, 300'000);
    }
    if (random.chance(70)) {
      switch (step.kind) {
        case FaultStepKind::transfer:
          step.fault = random_transfer_fault(random, step.direction, ranks);
          break;
        case FaultStepKind::resize:
          step.fault = whole_fault(random, Operation::resize, ranks);
          break;
        case FaultStepKind::allocate:
          step.fault = whole_fault(random, Operation::allocate, ranks);
          break;
        case FaultStepKind::sync: step.fault = whole_fault(random, Operation::sync, ranks); break;
      }
    }
    made.steps.push_back(std::move(step));
  }
  return made;
}

}  // namespace headrace::sim
