#include "file/exchanged_transfer.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/rounding.h"

namespace headrace::file {
namespace {

using policy::ExchangeReason;

/// A magic number ("chosen.."): a leader that is in another call announces something else.
constexpr std::int64_t kChosen = 0x63686f73656e2e2e;

/// What a leader announces to its node.
struct AnnouncedPlan {
  std::int64_t is_chosen = 0;  ///< kChosen if nodes exchange
  std::int64_t reason = 0;
  std::int64_t nodes = 0;
  ByteCount bytes = 0;
  ByteCount span = 0;
  std::int64_t reaches = 0;
  std::int64_t stretches = 0;
  ByteCount window = 0;
  std::int64_t known_window = 0;
  FileOffset known_begin = 0;
  std::int64_t granule_shift = 0;
  std::int64_t leaders = 0;
  std::int64_t leader_reason = 0;
};

AnnouncedPlan to_announce(const ExchangedTransfer::Agreed& agreed) {
  const ExchangeChoice& choice = agreed.choice;
  return {.is_chosen = choice.decision.is_chosen ? kChosen : 0,
          .reason = static_cast<std::int64_t>(choice.decision.reason),
          .nodes = choice.facts.nodes,
          .bytes = choice.facts.bytes,
          .span = choice.facts.span,
          .reaches = choice.facts.reaches,
          .stretches = choice.facts.stretches,
          .window = choice.facts.window,
          .known_window = agreed.known_window,
          .known_begin = agreed.known_begin,
          .granule_shift = choice.granule_shift,
          .leaders = choice.leading.leaders,
          .leader_reason = static_cast<std::int64_t>(choice.leading.reason)};
}

}  // namespace

ExchangedTransfer::ExchangedTransfer(exchange::FileChannel& channel, storage::Store& store)
    : channel_(channel), store_(store) {
  if (channel.nodes().node_count() == 1 || channel.nodes().node_rank() >= exchange::kMaxLeaders)
    return;
  const auto nodes = static_cast<std::size_t>(channel.nodes().node_count());
  parts_.resize(nodes);
  scratch_.resize(nodes);
  planner_.emplace(nodes);
}

ExchangedTransfer::Agreed ExchangedTransfer::lead(NodePart mine, std::int64_t first_window,
                                                  policy::PathHint hint, const DomainHints& domains,
                                                  const exchange::Slots* slots,
                                                  const fabric::Waiter& waiter) {
  reserve_messages(mine, slots, domains.stripe);
  Agreed agreed;
  if (channel_.meet_leaders(std::as_bytes(std::span(&mine, 1)),
                            std::as_writable_bytes(std::span(scratch_)),
                            std::as_writable_bytes(std::span(parts_)))) {
    is_broken_ = true;
    agreed.choice.decision.reason = ExchangeReason::no_memory;
    channel_.board().announce(to_announce(agreed));
    return agreed;
  }
  // In Bruck's algorithm, each part is sent on by all leaders but one.
  const auto others = static_cast<std::size_t>(channel_.nodes().node_count() - 1);
  buffers_.sent().add(std::bit_width(others), others * sizeof(NodePart));
  const policy::ExchangeDecision decision = decide(hint, domains, slots, waiter);
  agreed.choice = planner_->choice();
  agreed.choice.decision = decision;
  if (decision.is_chosen) {
    first_window_ = first_window;
    // A node without data knows some window of the call; it only owns windows.
    const plan::Windows& windows = planner_->plan().windows();
    const std::int64_t known = mine.bytes > 0 ? windows.window_of(mine.begin) : 0;
    agreed.known_window = first_window + known;
    agreed.known_begin = windows.range(known).begin;
  }
  channel_.board().announce(to_announce(agreed));
  return agreed;
}

/// Takes memory for messages, and sets in `mine` with which window size, leaders and slots the node
/// can take part.
void ExchangedTransfer::reserve_messages(NodePart& mine, const exchange::Slots* slots,
                                         ByteCount stripe) {
  const int nodes = channel_.nodes().node_count();
  const std::size_t room = slots != nullptr ? slots->all_bytes().size() : 0;
  const int slot_count = slots != nullptr ? slots->geometry().count : 0;
  if (room < sizeof mine * static_cast<std::size_t>(nodes)) mine.leaders = 1;
  if (is_broken_) {
    mine.window_size = 0;
    mine.leaders = 1;
  }
  if (mine.leaders > 1 &&
      !buffers_.reserve(channel_.messenger(), nodes, mine.window_size, slot_count, mine.leaders)) {
    mine.leaders = 1;
  }
  if (mine.leaders == 1) mine.window_size = reserve_window(mine.window_size, slot_count, stripe);
  mine.slots = buffers_.has_room_to_join() ? slot_count : 0;
}

/// Decides from the parts of all nodes. If they are to exchange, all first leaders have a plan
/// afterwards.
policy::ExchangeDecision ExchangedTransfer::decide(policy::PathHint hint,
                                                   const DomainHints& domains,
                                                   const exchange::Slots* slots,
                                                   const fabric::Waiter& waiter) {
  policy::ExchangeDecision decision = planner_->decide(parts_, hint, domains);
  // A first leader that has the plan knows that all have it, since all were told the same before.
  const bool is_known = planner_->has_plan() && planner_->choice().leading.leaders == 1;
  if (!decision.is_chosen || is_known) return decision;
  const auto others = static_cast<std::size_t>(channel_.nodes().node_count() - 1);
  const Result<bool> ready = channel_.are_leaders_ready(make_plan(slots, waiter));
  buffers_.sent().add(std::bit_width(others), std::bit_width(others));
  is_broken_ = !ready;
  if (!ready || !ready.value()) {
    decision = {false, ExchangeReason::no_memory};
    planner_->forget_plan();
  }
  return decision;
}

exchange::LeaderState& ExchangedTransfer::state(int leader) const {
  return channel_.staging().leaders[static_cast<std::size_t>(leader)];
}

/// Lets all leaders of the node plan the call; false if one lacks memory.
bool ExchangedTransfer::make_plan(const exchange::Slots* slots, const fabric::Waiter& waiter) {
  Error lacking = attempt([this]() -> Error {
    planner_->make_plan();
    return {};
  });
  const int leaders = planner_->choice().leading.leaders;
  if (lacking || leaders == 1) return !lacking;
  const std::uint64_t round = channel_.board().round();
  // The node's ranks are done with the call before, so the slots are free.
  std::ranges::copy(std::as_bytes(std::span(parts_)), slots->all_bytes().begin());
  fabric::Event& event = channel_.board().event();
  state(0).leaders = leaders;
  state(0).window_size = buffers_.size().window;
  state(0).slots = buffers_.size().slots;
  state(0).depth = buffers_.size().depth;
  state(0).offered.store(round, std::memory_order_release);
  event.signal();
  for (int leader = 1; leader < leaders; ++leader) {
    const auto lacks = [&] { return state(leader).lacking.load() == round; };
    event.wait(waiter, [&] { return lacks() || state(leader).prepared.load() == round; });
    if (lacks()) lacking = out_of_memory();
  }
  return !lacking;
}

bool ExchangedTransfer::is_wanted(const fabric::Waiter& waiter) {
  const std::uint64_t round = channel_.board().round();
  const auto is_offered = [&] { return state(0).offered.load(std::memory_order_acquire) == round; };
  channel_.board().event().wait(waiter,
                                [&] { return is_offered() || channel_.board().is_announced(); });
  return is_offered() && channel_.nodes().node_rank() < state(0).leaders;
}

void ExchangedTransfer::prepare(std::int64_t first_window, policy::PathHint hint,
                                const DomainHints& domains, const exchange::Slots& slots) {
  const auto parts = std::as_writable_bytes(std::span(parts_));
  std::ranges::copy(slots.all_bytes().first(parts.size()), parts.begin());
  first_window_ = first_window;
  const exchange::MessageBuffers::Size size{state(0).window_size, state(0).slots, state(0).depth};
  const Error lacking = attempt([&]() -> Error {
    static_cast<void>(planner_->decide(parts_, hint, domains));
    planner_->make_plan();
    const bool has_buffers =
        buffers_.reserve_alike(channel_.messenger(), channel_.nodes().node_count(), size);
    return has_buffers ? Error{} : out_of_memory();
  });
  lacked_memory_ = static_cast<bool>(lacking);
  exchange::LeaderState& mine = state(channel_.nodes().node_rank());
  (lacking ? mine.lacking : mine.prepared)
      .store(channel_.board().round(), std::memory_order_release);
  channel_.board().event().signal();
}

/// The largest window size, at most `window_size`, for whose messages there is memory: halves the
/// size as long as whole stripes, or even parts of a stripe, are left. 0: none.
ByteCount ExchangedTransfer::reserve_window(ByteCount window_size, int slots, ByteCount stripe) {
  for (ByteCount size = window_size; size > 0;) {
    if (buffers_.reserve(channel_.messenger(), channel_.nodes().node_count(), size, slots, 1)) {
      return size;
    }
    const bool has_stripes = stripe > 0 && size / 2 >= stripe;
    size = has_stripes ? size / 2 / stripe * stripe : size / 2;
    const bool is_aligned = stripe == 0 || has_stripes || (size > 0 && stripe % size == 0);
    if (size < plan::kLeastWindow || size % kPage != 0 || !is_aligned) break;
  }
  return 0;
}

ExchangedTransfer::Agreed ExchangedTransfer::follow(const fabric::Waiter& waiter) {
  const auto& announced = channel_.board().wait_for_announcement(waiter).value.as<AnnouncedPlan>();
  Agreed agreed;
  ExchangeChoice& choice = agreed.choice;
  choice.decision = {announced.is_chosen == kChosen, static_cast<ExchangeReason>(announced.reason)};
  choice.facts.nodes = static_cast<int>(announced.nodes);
  choice.facts.bytes = announced.bytes;
  choice.facts.span = announced.span;
  choice.facts.reaches = announced.reaches;
  choice.facts.stretches = announced.stretches;
  choice.facts.window = announced.window;
  agreed.known_window = announced.known_window;
  agreed.known_begin = announced.known_begin;
  choice.granule_shift = static_cast<int>(announced.granule_shift);
  choice.leading = {static_cast<int>(announced.leaders),
                    static_cast<policy::LeaderReason>(announced.leader_reason)};
  return agreed;
}

exchange::StagedOutcome ExchangedTransfer::move(Direction direction, const Agreed& agreed,
                                                exchange::Slots& slots, const plan::Windows* ranks,
                                                exchange::StagedAccess* access,
                                                const fabric::Waiter& waiter) {
  const exchange::ExchangedCall call{.channel = channel_,
                                     .waiter = waiter,
                                     .store = store_,
                                     .slots = slots,
                                     .known_window = agreed.known_window,
                                     .known_begin = agreed.known_begin,
                                     .window_size = agreed.choice.facts.window,
                                     .granule_shift = agreed.choice.granule_shift,
                                     .leaders = agreed.choice.leading.leaders};
  const bool writes = direction == Direction::write;
  if (channel_.nodes().node_rank() >= agreed.choice.leading.leaders) {
    return writes ? exchange::exchanged_write(call, *access)
                  : exchange::exchanged_read(call, *access);
  }
  buffers_.arrange(planner_->plan().most_joined());
  const exchange::LeaderCall lead{call,
                                  planner_->plan(),
                                  *ranks,
                                  first_window_,
                                  buffers_,
                                  channel_.nodes().node_rank(),
                                  planner_->domains().lock_ahead};
  const exchange::LeaderOutcome outcome = writes ? exchange::lead_exchanged_write(lead, access)
                                                 : exchange::lead_exchanged_read(lead, access);
  if (outcome.broken) {
    is_broken_ = true;
    buffers_.abandon();
  }
  return outcome.own;
}

}  // namespace headrace::file
