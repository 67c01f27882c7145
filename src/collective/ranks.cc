#include "collective/ranks.h"

#include <utility>

#include "fabric/combined.h"

namespace headrace::collective {
namespace {

constexpr int kSetupTag = 1;  // kinds of tags of the channel; 0 is its own
constexpr int kCallTag = 2;

/// Looks at shared memory before a rank sleeps, some milliseconds, where each rank has a core: the
/// libraries spin for ever.
constexpr int kSpinsWithACoreEach = 100'000;

/// What a rank says of a call to those of its node. Never 0.
std::uint64_t note_of(const Call& call, std::uint64_t number) {
  constexpr int kBitsOfBytes = 40;
  constexpr int kBitsOfOperation = 4;
  const auto operation = static_cast<std::uint64_t>(call.operation) + 1;
  const std::uint64_t bytes = call.bytes & ((std::uint64_t{1} << kBitsOfBytes) - 1);
  return (number << kBitsOfOperation | operation) << kBitsOfBytes | bytes;
}

fabric::Waiter waiter_of(const fabric::Channel& channel) {
  fabric::Waiter waiter = channel.waiter();
  if (waiter.spins > 0) waiter.spins = kSpinsWithACoreEach;
  return waiter;
}

}  // namespace

Ranks::Ranks(std::unique_ptr<fabric::Channel> channel, std::unique_ptr<StageMemory> memory)
    : channel_(std::move(channel)),
      memory_(std::move(memory)),
      transport_({memory_->bells(), memory_->milestones(), memory_->shape().node_rank},
                 waiter_of(*channel_), channel_->tag(kCallTag)) {}

Result<std::unique_ptr<Ranks>> Ranks::create(std::shared_ptr<fabric::Team> team,
                                             const Error& refused) {
  if (Error error = team->agree(refused)) return error;
  auto channel = team->open_channel<fabric::Channel>();
  if (!channel) return channel.error();
  fabric::Channel& own = *channel.value();
  const int tag = own.tag(kSetupTag);
  std::vector<int> on_node;
  const Result<NodeTables> tables = gather_tables(own, tag, on_node);
  if (Error error = team->agree(tables ? Error() : tables.error())) return error;
  auto memory = StageMemory::make(own, tag, on_node, tables.value());
  if (!memory) return memory.error();
  std::unique_ptr<Ranks> made;
  const Error lacking = attempt([&]() -> Error {
    made.reset(new Ranks(std::move(channel.value()), std::move(memory.value())));
    return {};
  });
  // Also: all milestones are set.
  if (Error error = team->agree(lacking)) return error;
  return made;
}

Choice Ranks::choose_for(const Call& call) const {
  Call part = call;
  part.bytes = part_bytes(shape(), call, limits());
  if (part.blocks.are_alike() && part.blocks.size != 0) part.blocks.size = part.bytes;
  return choose(shape(), part, limits());
}

void Ranks::pass() {
  transport_.pass_call();
}

const Schedule& Ranks::schedule_for(const Call& call, const Algorithm& chosen) {
  if (!call.blocks.are_alike()) {
    unkept_.steps.clear();
    unkept_.meets = true;
    chosen.plan(shape(), call, limits(), unkept_);
    return unkept_;
  }
  const std::size_t place =
      (call.bytes / 8 + call.bytes / kMostKept + static_cast<std::size_t>(call.operation) * 7 +
       static_cast<std::size_t>(call.root)) %
      kMostKept;
  Kept& kept = kept_[place];
  if (kept.algorithm != &chosen || kept.bytes != call.bytes || kept.element != call.element ||
      kept.root != call.root || kept.distance != call.blocks.distance) {
    kept.algorithm = nullptr;
    kept.schedule = {};
    chosen.plan(shape(), call, limits(), kept.schedule);
    kept.algorithm = &chosen;
    kept.bytes = call.bytes;
    kept.element = call.element;
    kept.distance = call.blocks.distance;
    kept.root = call.root;
  }
  return kept.schedule;
}

Ranks::Outcome Ranks::run_part(const Call& call, const Algorithm& chosen, const Buffers& buffers,
                               const Reduction& reduction, std::uint64_t note, Error& error) {
  transport_.begin_call(note);
  const Schedule& schedule = schedule_for(call, chosen);
  const std::uint64_t number = transport_.call();
  Buffers own = buffers;
  own.stage = memory_->stage(number);
  Execution execution(schedule, shape(), call.blocks, own, reduction, transport_, number);
  Execution::State state = execution.advance();
  while (state == Execution::State::waits) {
    transport_.wait(execution.step());
    state = execution.advance();
  }
  if (state == Execution::State::failed) {
    error = execution.error();
    return Outcome::failed;
  }
  if (schedule.meets) transport_.note_meeting();
  return state == Execution::State::differs ? Outcome::differs : Outcome::done;
}

Ranks::Outcome Ranks::run(const Call& call, const Algorithm& chosen, const Buffers& buffers,
                          const Reduction& reduction, Error& error) {
  const std::uint64_t note = note_of(call, transport_.call() + 1);
  const std::size_t most = part_bytes(shape(), call, limits());
  if (most >= call.bytes) return run_part(call, chosen, buffers, reduction, note, error);
  const std::size_t bytes = call.bytes;
  Call part = call;
  Buffers own = buffers;
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    part.bytes = std::min(most, bytes - begin);
    if (part.blocks.size != 0) part.blocks.size = part.bytes;
    own.send = buffers.send + begin;
    own.receive = buffers.receive + begin;
    const Outcome outcome = run_part(part, chosen, own, reduction, note, error);
    if (outcome != Outcome::done) return outcome;
  }
  return Outcome::done;
}

}  // namespace headrace::collective
