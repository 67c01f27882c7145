#include "collective/ranks.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fingerprint.h"
#include "base/settings.h"
#include "fabric/combined.h"

namespace headrace::collective {
namespace {

constexpr int kSetupTag = 1;  // kinds of tags of the channel; 0 is its own
constexpr int kCallTag = 2;

/// Looks at shared memory before a rank sleeps, some hundred microseconds, where each rank has a
/// core. Whoever waits longer can afford to be woken.
constexpr int kSpinsWithACoreEach = 20'000;

// The bits of what a rank says of a call to those of its node.
constexpr int kBitsOfBytes = 40;
constexpr int kBitsOfOperation = 4;
constexpr std::uint64_t kBytes = (std::uint64_t{1} << kBitsOfBytes) - 1;

/// Never 0.
std::uint64_t note_of(const Call& call, std::uint64_t number) {
  static_assert(kOperations < 1 << kBitsOfOperation);
  const auto operation = static_cast<std::uint64_t>(call.operation) + 1;
  return (number << kBitsOfOperation | operation) << kBitsOfBytes | (call.bytes & kBytes);
}

bool is_same_call(std::uint64_t given, std::uint64_t note) {
  return given >> kBitsOfBytes == note >> kBitsOfBytes;
}

/// The call as a rank made it that gave such a note.
Call as_given(const Call& call, std::uint64_t note) {
  Call whole = call;
  whole.bytes = note & kBytes;
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

constexpr std::uint32_t bit_of(Operation operation) {
  return std::uint32_t{1} << static_cast<unsigned>(operation);
}

/// Of one rank's block; of an average one where they differ.
std::size_t block_of(const Call& call, const Shape& shape) {
  return call.blocks.are_alike() ? call.bytes : call.bytes / static_cast<std::size_t>(shape.size);
}

/// A number that is the same where the same was measured.
std::int64_t print_of(const std::optional<Measured>& measured) {
  Fingerprint print;
  if (!measured) return print.value();
  print.add(static_cast<std::int64_t>(measured->library));
  for (const Use& use : measured->uses) {
    print.add(static_cast<std::int64_t>(use.library));
    print.add(static_cast<std::int64_t>(use.operation));
    print.add(use.nodes.nodes);
    print.add(use.nodes.ranks);
    print.add(static_cast<std::int64_t>(use.least));
    print.add(static_cast<std::int64_t>(use.most));
  }
  return print.value();
}

/// Collective: an error on all ranks where they would choose differently.
Error compare(fabric::Channel& channel, const std::optional<Measured>& measured) {
  fabric::Greatest greatest{print_of(measured)};
  fabric::Greatest least{-greatest.value};
  if (Error error = channel.combine(greatest)) return error;
  if (Error error = channel.combine(least)) return error;
  if (greatest.value == -least.value) return {};
  return {ErrorClass::not_same, 0,
          "the ranks have different tables (HEADRACE_COLL_TABLE), let all read the same file"};
}

fabric::Waiter waiter_of(const fabric::Channel& channel) {
  fabric::Waiter waiter = channel.waiter();
  if (waiter.spins > 0) waiter.spins = kSpinsWithACoreEach;
  return waiter;
}

}  // namespace

Ranks::Ranks(std::unique_ptr<fabric::Channel> channel, std::unique_ptr<StageMemory> memory,
             const std::optional<Measured>& measured)
    : channel_(std::move(channel)),
      memory_(std::move(memory)),
      transport_({memory_->bells(), memory_->milestones(), memory_->shape().node_rank},
                 waiter_of(*channel_), channel_->tag(kCallTag)) {
  set_uses(measured);
}

Result<std::unique_ptr<Ranks>> Ranks::create(std::shared_ptr<fabric::Team> team,
                                             const std::optional<Measured>& measured,
                                             const Error& refused) {
  if (Error error = team->agree(refused)) return error;
  auto channel = team->open_channel<fabric::Channel>();
  if (!channel) return channel.error();
  fabric::Channel& own = *channel.value();
  if (Error error = compare(own, measured)) return error;
  const int tag = own.tag(kSetupTag);
  std::vector<int> on_node;
  const Result<NodeTables> tables = gather_tables(own, tag, on_node);
  // A message between leaders may have failed.
  if (Error error = team->agree(tables ? Error() : tables.error())) return error;
  auto memory = StageMemory::make(own, tag, on_node, tables.value());
  if (!memory) return memory.error();
  std::unique_ptr<Ranks> made;
  const Error lacking = attempt([&]() -> Error {
    made.reset(new Ranks(std::move(channel.value()), std::move(memory.value()), measured));
    return {};
  });
  // Also: all milestones are set.
  if (Error error = team->agree(lacking)) return error;
  return made;
}

Limits Ranks::limits() const {
  return {memory_->stage_size(), static_cast<int>(settings().alltoallv_throttle)};
}

void Ranks::fill(const Call& call, bool is_part, Prepared& prepared) const {
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

const Ranks::Prepared& Ranks::prepare(const Call& call, bool is_part) {
  if (!call.blocks.are_alike()) {
    fill(call, is_part, unkept_);
    return unkept_;
  }
  const std::size_t place = (call.bytes / 8 + call.bytes / (8 * kMostKept) +
                             static_cast<std::size_t>(call.operation) * 7 +
                             static_cast<std::size_t>(call.root) + (is_part ? kMostKept / 2 : 0)) %
                            kMostKept;
  Kept& kept = kept_[place];
  if (kept.is_for(call, is_part)) return kept.prepared;
  // Before the call is filled in: a part may take its place.
  if (!is_part) prepare_parts(call);
  kept.is_filled = false;
  fill(call, is_part, kept.prepared);
  kept.is_part = is_part;
  kept.operation = call.operation;
  kept.root = call.root;
  kept.bytes = call.bytes;
  kept.element = call.element;
  kept.distance = call.blocks.distance;
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
  if (carries(operation)) transport_.pass_call();
}

/// Nodes know nothing of each other. On one node all learn of it, but the root of a broadcast,
/// which waits for nobody: then this rank goes by what the root has done.
bool Ranks::lack_memory(const Call& call) {
  const bool is_on_one_node = shape().node_count == 1;
  if (!is_on_one_node || call.operation != Operation::bcast || call.root == shape().rank) {
    pass(call.operation);
    return is_on_one_node;
  }
  const std::uint64_t note = note_of(call, transport_.call() + 1);
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
  return (elsewhere_ & bit_of(operation)) != 0 ? kElsewhere : kNotSlower;
}

/// Keeps what counts on these nodes: the same on all ranks.
void Ranks::set_uses(const std::optional<Measured>& measured) {
  is_measured_ = measured.has_value();
  if (!is_measured_) {
    carried_ = ~std::uint32_t{0};
    return;
  }
  const NodeSizes sizes = node_sizes(shape());
  const bool is_between_nodes = sizes.nodes > 1;
  for (const Use& use : measured->uses) {
    if (use.library != measured->library || (use.nodes == kOneNode) == is_between_nodes) continue;
    const bool counts = holds_on(use.nodes, use.operation, sizes);
    (counts ? carried_ : elsewhere_) |= bit_of(use.operation);
    if (counts) uses_[static_cast<std::size_t>(use.operation)].push_back(&use);
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

Ranks::Outcome Ranks::run_part(const Call& call, const Schedule& schedule, const Buffers& buffers,
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
    return Outcome::failed;
  }
  if (schedule.meets) transport_.note_meeting();
  return state == Execution::State::differs ? Outcome::differs : Outcome::done;
}

/// All parts but the last are alike, and so are made by one algorithm.
Ranks::Outcome Ranks::run_parts(const Call& call, std::size_t most, const Buffers& buffers,
                                const Reduction& reduction, std::uint64_t note, Error& error) {
  Buffers own = buffers;
  for (std::size_t begin = 0; begin < call.bytes; begin += most) {
    const Call part = part_of(call, begin, most);
    // Ranks that give nothing, or get nothing, have no such buffer.
    own.send = buffers.send == nullptr ? nullptr : buffers.send + begin;
    own.receive = buffers.receive == nullptr ? nullptr : buffers.receive + begin;
    const Prepared& prepared = prepare(part, true);
    const Outcome outcome = run_part(part, prepared.schedule, own, reduction, note, error);
    if (outcome != Outcome::done) return outcome;
  }
  return Outcome::done;
}

Ranks::Outcome Ranks::run_noted(const Call& call, const Buffers& buffers,
                                const Reduction& reduction, std::uint64_t note, Error& error) {
  const Prepared& prepared = prepare(call);
  if (prepared.part < call.bytes) {
    return run_parts(call, prepared.part, buffers, reduction, note, error);
  }
  return run_part(call, prepared.schedule, buffers, reduction, note, error);
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
  const Outcome outcome = run_noted(whole, {nullptr, memory.data()}, {}, given, ending.error);
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
  const std::uint64_t note = note_of(call, transport_.call() + 1);
  const Outcome outcome = run_noted(call, buffers, reduction, note, ending.error);
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
