#include "collective/ranks.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "collective/call_note.h"
#include "fabric/memory_layout.h"

namespace headrace::collective {
namespace {

/// Calls have tags that no channel has.
constexpr int kFirstCallTag = fabric::Channel::kTagKinds * fabric::kMaxChannels;
static_assert(kFirstCallTag + NodeTransport::kTags <= 32767, "tags that MPI guarantees");

/// Looks at shared memory before a rank sleeps, some hundred microseconds, where each rank has a
/// core. Whoever waits longer can afford to be woken.
constexpr int kSpinsWithACoreEach = 20'000;

/// The call as a rank made it that gave such a note.
Call as_given(const Call& call, std::uint64_t note) {
  Call whole = call;
  whole.bytes = note & kBytesOfNote;
  return whole;
}

/// What is moved at a time, from there on.
Call part_of(const Call& call, std::size_t begin, std::size_t most) {
  Call part = call;
  part.bytes = std::min(most, call.bytes - begin);
  if (part.blocks.size != 0) part.blocks.size = part.bytes;
  return part;
}

constexpr const char* kElsewhere =
    "it was measured to be slower, but on other numbers of nodes and of their ranks";
constexpr const char* kWithCores =
    "it was measured to be slower, but not where ranks outnumber cores";
constexpr const char* kWithoutCores =
    "it was measured to be slower, but only where ranks outnumber cores";

constexpr std::uint32_t bit_of(Operation operation) {
  return std::uint32_t{1} << static_cast<unsigned>(operation);
}

/// Of one rank's block; of an average one where they differ.
std::size_t block_of(const Call& call, const Shape& shape) {
  return call.blocks.are_alike() ? call.bytes : call.bytes / static_cast<std::size_t>(shape.size);
}

fabric::Waiter waiter_of(const fabric::Channel& channel) {
  fabric::Waiter waiter = channel.waiter();
  if (waiter.spins > 0) waiter.spins = kSpinsWithACoreEach;
  return waiter;
}

}  // namespace

Ranks::Ranks(std::unique_ptr<fabric::Channel> channel, std::unique_ptr<StageMemory> memory,
             const std::optional<Measured>& measured, bool is_crowded)
    : channel_(std::move(channel)),
      memory_(std::move(memory)),
      is_crowded_(is_crowded),
      transport_({memory_->bells(), memory_->milestones(), memory_->shape().node_rank},
                 waiter_of(*channel_), kFirstCallTag) {
  set_uses(measured);
}

Limits Ranks::limits() const {
  return {memory_->stage_size(), static_cast<int>(settings().alltoallv_throttle)};
}

void Ranks::fill(const Call& call, bool is_part, Prepared& prepared) const {
  prepared.told = size_note(call);
  prepared.part = is_part ? call.bytes : part_bytes(shape(), call, limits());
  const Choice choice = choose(shape(), part_of(call, 0, prepared.part), limits());
  prepared.algorithm = choice.algorithm;
  prepared.obstacle = choice.obstacle;
  prepared.schedule.steps.clear();
  prepared.schedule.meets = true;
  prepared.use = nullptr;
  if (choice.algorithm != nullptr && !is_part && is_measured_) {
    prepared.use = find_use(call);
    if (prepared.use == nullptr) {
      prepared.algorithm = nullptr;
      prepared.obstacle = why_left(call.operation);
    }
  }
  if (prepared.algorithm != nullptr && prepared.part == call.bytes) {
    choice.algorithm->plan(shape(), call, limits(), prepared.schedule);
  }
}

void Ranks::Kept::set_key(const Call& call, bool of_part) {
  sizes.assign(call.blocks.sizes.begin(), call.blocks.sizes.end());
  is_part = of_part;
  operation = call.operation;
  root = call.root;
  bytes = call.bytes;
  element = call.element;
  distance = call.blocks.distance;
}

Ranks::Kept& Ranks::kept_for(const Call& call, bool is_part) {
  if (!call.blocks.are_alike()) {
    return call.operation == Operation::allgatherv ? kept_allgatherv_ : kept_reduce_scatter_;
  }
  const std::size_t place = (call.bytes / 8 + call.bytes / (8 * kMostKept) +
                             static_cast<std::size_t>(call.operation) * 7 +
                             static_cast<std::size_t>(call.root) + (is_part ? kMostKept / 2 : 0)) %
                            kMostKept;
  return kept_[place];
}

const Ranks::Prepared& Ranks::prepare(const Call& call, bool is_part) {
  Kept& kept = kept_for(call, is_part);
  if (kept.is_for(call, is_part)) return kept.prepared;
  // Before the call is filled in: a part may take its place.
  if (!is_part) prepare_parts(call);
  kept.is_filled = false;
  kept.set_key(call, is_part);
  fill(call, is_part, kept.prepared);
  kept.is_filled = true;
  return kept.prepared;
}

/// Where memory lacks for parts, that is to be known before the first of them begins. Places only
/// grow, so to plan parts once more takes no memory.
void Ranks::prepare_parts(const Call& call) {
  const std::size_t most = part_bytes(shape(), call, limits());
  if (most >= call.bytes) return;
  prepare(part_of(call, 0, most), true);
  prepare(part_of(call, (call.bytes - 1) / most * most, most), true);
}

void Ranks::pass(Operation operation) {
  if (!carries(operation)) return;
  transport_.begin_program_call();
  transport_.pass_call();
}

/// Nodes know nothing of each other. On one node all learn of it, but the root of a broadcast,
/// which waits for nobody: then this rank goes by what the root has done.
bool Ranks::lack_memory(const Call& call) {
  const bool is_on_one_node = shape().node_count == 1;
  if (!is_on_one_node || call.operation != Operation::bcast || call.root == shape().rank) {
    pass(call.operation);
    return is_on_one_node;
  }
  const std::uint64_t note = call_note(call.operation, transport_.call() + 1, size_note(call));
  transport_.begin_program_call();
  transport_.begin_call(note);
  transport_.wait({.kind = Step::Kind::await, .phase = 1, .peer = call.root});
  const std::uint64_t given = transport_.note_of(call.root);
  const bool is_left = !is_same_call(given, note);
  if (is_left) {
    transport_.leave_call();
  } else {
    leave_parts(as_given(call, given));
  }
  return is_left;
}

bool Ranks::carries(Operation operation) const {
  return (carried_ & bit_of(operation)) != 0;
}

const char* Ranks::why_left(Operation operation) const {
  return why_left(bit_of(operation));
}

const char* Ranks::why_left(std::uint32_t operations) const {
  if ((otherwise_crowded_ & operations) != 0) return is_crowded_ ? kWithCores : kWithoutCores;
  return (elsewhere_ & operations) != 0 ? kElsewhere : kNotSlower;
}

/// Keeps what counts on these nodes: the same on all ranks.
void Ranks::set_uses(const std::optional<Measured>& measured) {
  is_measured_ = measured.has_value();
  if (!is_measured_) {
    carried_ = kAnyOperation;
    return;
  }
  const NodeSizes sizes = node_sizes(shape());
  const bool is_between_nodes = sizes.nodes > 1;
  for (const Use& use : measured->uses) {
    if (use.library != measured->library || (use.nodes.nodes == 1) == is_between_nodes) continue;
    if (!holds_on(use.nodes, use.operation, sizes)) {
      elsewhere_ |= bit_of(use.operation);
    } else if (use.nodes.is_crowded != is_crowded_) {
      otherwise_crowded_ |= bit_of(use.operation);
    } else {
      carried_ |= bit_of(use.operation);
      uses_[static_cast<std::size_t>(use.operation)].push_back(&use);
    }
  }
}

const Use* Ranks::find_use(const Call& call) const {
  const std::size_t block = block_of(call, shape());
  for (const Use* const use : uses_[static_cast<std::size_t>(call.operation)]) {
    if (use->least <= block && block <= use->most) return use;
  }
  return nullptr;
}

Execution::State Ranks::finish(Execution& execution) {
  try {
    Execution::State state = execution.advance();
    while (state == Execution::State::waits) {
      transport_.wait(execution.step());
      state = execution.advance();
    }
    return state;
  } catch (...) {
    transport_.end_messages();
    throw;
  }
}

Ranks::PartEnd Ranks::run_part(const Call& call, const Schedule& schedule, const Buffers& buffers,
                               const Reduction& reduction, std::uint64_t note, Error& error) {
  transport_.begin_call(note);
  const std::uint64_t number = transport_.call();
  Buffers own = buffers;
  own.stage = memory_->stage(number);
  Execution execution(schedule, shape(), call.blocks, own, reduction, transport_, number);
  const Execution::State state = finish(execution);
  if (state != Execution::State::done) transport_.end_messages();
  if (state == Execution::State::failed) {
    error = execution.error();
    return {Outcome::failed, execution.is_made_without_data(), execution.is_at_odds()};
  }
  if (schedule.meets) transport_.note_meeting();
  return {state == Execution::State::differs ? Outcome::differs : Outcome::done};
}

/// Of further parts of a call of which the ranks of this node have said different sizes, and so may
/// have different numbers of parts: the messages, without data, for which other nodes wait.
void Ranks::move_messages(const Call& part, const Schedule& schedule) {
  const std::uint64_t number = transport_.call();
  const Buffers own{.stage = memory_->stage(number)};
  Execution execution(schedule, shape(), part.blocks, own, {}, transport_, number);
  execution.move_messages_only();
  transport_.begin_part();
  static_cast<void>(finish(execution));
  transport_.end_messages();
}

/// All parts but the last are alike, and so are made by one algorithm. Where one is spoilt, the
/// others are still made, without data: other nodes wait for these messages.
Ranks::Outcome Ranks::run_parts(const Call& call, std::size_t most, const Buffers& buffers,
                                const Reduction& reduction, std::uint64_t note, Error& error) {
  Buffers own = buffers;
  PartEnd first;
  for (std::size_t begin = 0; begin < call.bytes; begin += most) {
    const Call part = part_of(call, begin, most);
    // Ranks that give nothing, or get nothing, have no such buffer.
    own.send = buffers.send == nullptr ? nullptr : buffers.send + begin;
    own.receive = buffers.receive == nullptr ? nullptr : buffers.receive + begin;
    const Prepared& prepared = prepare(part, true);
    if (first.is_at_odds) {
      move_messages(part, prepared.schedule);
      continue;
    }
    Error failed;
    const PartEnd end = run_part(part, prepared.schedule, own, reduction, note, failed);
    if (end.outcome != Outcome::done && first.outcome == Outcome::done) {
      first = end;
      error = std::move(failed);
    }
    if (end.outcome != Outcome::done && !end.goes_on) break;
  }
  return first.outcome;
}

Ranks::Outcome Ranks::run_noted(const Call& call, const Prepared& prepared, const Buffers& buffers,
                                const Reduction& reduction, std::uint64_t note, Error& error) {
  if (prepared.part < call.bytes) {
    return run_parts(call, prepared.part, buffers, reduction, note, error);
  }
  return run_part(call, prepared.schedule, buffers, reduction, note, error).outcome;
}

/// Of a call of which this rank has begun the first part: later calls are to have the numbers that
/// they have on ranks that carry it out.
void Ranks::leave_parts(const Call& call) {
  transport_.leave_call();
  const std::size_t most = part_bytes(shape(), call, limits());
  for (std::size_t end = most; end < call.bytes; end += most) transport_.pass_call();
}

/// The root of a broadcast on one node waits for nobody, so it has carried the call out. If it gave
/// another size, this rank takes the call as the root made it, and of the data what it has room
/// for.
Ranks::Outcome Ranks::follow_root(const Call& call, std::uint64_t note, const Buffers& buffers,
                                  Ending& ending) {
  const std::uint64_t given = transport_.note_of(call.root);
  if (!is_same_call(given, note)) return Outcome::differs;
  const Call whole = as_given(call, given);
  std::vector<std::byte> memory;
  ending.error = attempt([&]() -> Error {
    memory.resize(whole.bytes);
    prepare(whole);
    return {};
  });
  if (ending.error) {
    leave_parts(whole);
    return Outcome::failed;
  }
  transport_.repeat_call();
  const Outcome outcome =
      run_noted(whole, prepare(whole), {nullptr, memory.data()}, {}, given, ending.error);
  if (outcome != Outcome::done) return outcome;
  const std::size_t taken = std::min(whole.bytes, call.bytes);
  if (taken > 0) std::memcpy(buffers.receive, memory.data(), taken);
  if (whole.bytes <= call.bytes) {
    ending.received = taken;
    return Outcome::done;
  }
  ending.error = truncation();
  return Outcome::failed;
}

Ranks::Outcome Ranks::run(const Call& call, const Buffers& buffers, const Reduction& reduction,
                          Ending& ending) {
  const Prepared& prepared = prepare(call);
  const std::uint64_t note = call_note(call.operation, transport_.call() + 1, prepared.told);
  transport_.begin_program_call(last_below(*prepared.algorithm, shape()));
  const Outcome outcome = run_noted(call, prepared, buffers, reduction, note, ending.error);
  // What others did before a barrier, programs expect to see behind it. The library must have
  // looked for that: MPICH's MPI_Win_test looks at what it knows first.
  if (call.operation == Operation::barrier) transport_.progress();
  const bool is_with_root = call.operation == Operation::bcast && shape().node_count == 1;
  if (outcome != Outcome::differs) return outcome;
  const Outcome followed = is_with_root ? follow_root(call, note, buffers, ending) : outcome;
  if (followed == Outcome::differs) transport_.leave_call();
  return followed;
}

}  // namespace headrace::collective
