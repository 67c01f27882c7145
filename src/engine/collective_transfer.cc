#include "engine/collective_transfer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/settings.h"

namespace headrace::engine {
namespace {

using policy::Path;

/// Data that will have left the caches when a call ends goes past them: more than the third level
/// of today's CPUs holds in one piece, and more than a core's part of it. The C library's answers
/// count the caches of several such pieces together.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank) {
  constexpr ByteCount kThirdLevel = 32 << 20;
  constexpr ByteCount kPerCore = 4 << 20;
  return of_all > kThirdLevel && of_rank > kPerCore ? view::Stores::streaming : view::Stores::usual;
}

/// Limits that belong to a process or a user: the owner of the bytes may have others than the rank
/// that wrote them.
bool depends_on_the_writer(int system_error) {
  return system_error == EFBIG || system_error == EDQUOT || system_error == EACCES ||
         system_error == EPERM;
}

}  // namespace

CollectiveTransfer::CollectiveTransfer(exchange::Channel& channel, storage::Store& store)
    : channel_(channel),
      store_(store),
      windows_(static_cast<std::size_t>(channel.node_size())),
      distance_(channel),
      nodes_(channel, store) {
  ranges_.reserve(static_cast<std::size_t>(channel.node_size()));
  first_pieces_.reserve(static_cast<std::size_t>(channel.node_size()));
}

CollectiveTransfer::~CollectiveTransfer() {
  if (slots_ && channel_.node_rank() == 0) channel_.return_slots(slots_->memory());
}

void CollectiveTransfer::set(const Agreement& agreement) {
  const std::lock_guard lock(mutex_);
  if (!slots_) geometry_ = {agreement.window_size, agreement.slot_count};
  const bool is_atomic = agreement_.view.is_atomic;
  agreement_ = agreement;
  agreement_.view.is_atomic = is_atomic;
  choose();
}

void CollectiveTransfer::get_ready(int kind) {
  is_local_ = storage::is_local(kind);
  const UseSetting setting = settings().write_turns;
  const bool gains = storage::has_one_writer(kind) && !channel_.is_crowded();
  const bool takes_turns =
      setting == UseSetting::always || (setting == UseSetting::automatic && gains);
  exchange::Control* const shared = channel_.control();
  if (takes_turns && shared != nullptr) {
    store_.take_turns({shared->write_turn, channel_.node_rank()});
  }
  distance_.measure();
}

void CollectiveTransfer::set_atomic(bool atomic) {
  const std::lock_guard lock(mutex_);
  agreement_.view.is_atomic = atomic;
  choose();
}

CollectiveTransfer::Moved CollectiveTransfer::transfer(Access& access, ByteCount sieve_size,
                                                       const exchange::Waiter& waiter,
                                                       bool is_in_background) {
  note_call(access.direction, false);
  const FileOffset begin = access.bytes > 0 ? access.file.peek() : 0;
  const FileOffset end = access.bytes > 0
                             ? view::offset_of(*access.file.type(), access.file.origin(),
                                               access.file.position() + access.bytes - 1) +
                                   1
                             : 0;
  Choice& choice = this->choice(access.direction);
  if (choice.chosen.for_view.path == Path::exchanged) {
    const bool exchanges = meets_between_nodes(access.direction, is_in_background);
    choice.stayed_on_node.store(!exchanges, std::memory_order_relaxed);
    announce(access, begin, end, waiter, exchanges);
    if (exchanges) return transfer_between_nodes(access, begin, end, sieve_size, waiter);
  } else if (access.bytes > 0 && goes_alone(access, begin, end)) {
    const ByteCount bytes = std::exchange(access.bytes, 0);
    announce(access, begin, end, waiter, false);
    access.bytes = bytes;
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  } else {
    announce(access, begin, end, waiter, false);
  }
  if (access.bytes == 0) return {};
  return transfer_within_node(access, begin, end, meet(access.direction, waiter), sieve_size,
                              waiter);
}

CollectiveTransfer::Moved CollectiveTransfer::transfer_within_node(Access& access, FileOffset begin,
                                                                   FileOffset end,
                                                                   const Meeting& meeting,
                                                                   ByteCount sieve_size,
                                                                   const exchange::Waiter& waiter) {
  if (!meeting.agrees || decide(access.direction, meeting) == Path::direct) {
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  }
  return {staged_transfer(access, begin, end, meeting, sieve_size, waiter), Path::staged};
}

/// Leaders stay also where they have no data: others count on them. Whether ranks that are ready to
/// lead do so, they learn from the first leader.
CollectiveTransfer::Moved CollectiveTransfer::transfer_between_nodes(
    Access& access, FileOffset begin, FileOffset end, ByteCount sieve_size,
    const exchange::Waiter& waiter) {
  const int number = channel_.node_rank();
  const bool leads_first = channel_.is_leader();
  const bool is_ready_to_lead = !leads_first && may_lead(number);
  if (!leads_first && !is_ready_to_lead && access.bytes == 0) return {};
  Choice& choice = this->choice(access.direction);
  std::optional<Meeting> meeting;
  ExchangedTransfer::Agreed agreed;
  if (leads_first) {
    meeting.emplace(meet(access.direction, waiter));
    agreed = nodes_.lead(node_part(access.direction, *meeting), meeting->first_window, choice.wish,
                         domains(), slots_ ? &*slots_ : nullptr, waiter);
  } else {
    if (is_ready_to_lead && nodes_.is_wanted(waiter)) {
      meeting.emplace(meet(access.direction, waiter));
      nodes_.prepare(meeting->first_window, choice.wish, domains(), *slots_);
    }
    agreed = nodes_.follow(waiter);
    find_slots(access.direction, channel_.call_board().values_of(0));
  }
  const bool leads = agreed.choice.decision.is_chosen && number < agreed.choice.leading.leaders;
  {
    const std::lock_guard lock(mutex_);
    choice.chosen.between_nodes = agreed;
    if (leads_first && correction_ != nodes_.correction()) {
      // A report may lack its text.
      static_cast<void>(attempt([this]() -> Error {
        correction_ = nodes_.correction();
        return {};
      }));
    }
  }
  if (!agreed.choice.decision.is_chosen) {
    if (access.bytes == 0) return {};
    if (choice.for_node == Path::direct) {
      return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
    }
    if (!meeting) meeting.emplace(meet(access.direction, waiter));
    return transfer_within_node(access, begin, end, *meeting, sieve_size, waiter);
  }
  if (!leads && access.bytes == 0) return {};
  const Start start(access);
  exchange::StagedAccess staged{access.file, access.memory, access.buffer,
                                begin,       end,           access.bytes};
  const exchange::StagedOutcome outcome =
      nodes_.move(access.direction, agreed, *slots_, leads ? &windows_ : nullptr,
                  access.bytes > 0 ? &staged : nullptr, waiter);
  {
    const std::lock_guard lock(mutex_);
    sent_ = nodes_.sent();
  }
  if (access.bytes == 0) return {};
  return {finish(access, start, outcome, sieve_size), Path::exchanged};
}

NodePart CollectiveTransfer::node_part(Direction direction, const Meeting& meeting) {
  NodePart part;
  part.bytes = meeting.facts.bytes;
  if (part.bytes > 0) {
    part.begin = meeting.hull.begin;
    part.end = meeting.hull.end;
    part.granule = meeting.granule;
    const auto pieces = static_cast<double>(meeting.facts.pieces);
    part.stretches = static_cast<std::int64_t>(pieces * meeting.facts.stretches_per_piece);
  }
  part.window_size = slots_ ? geometry_.window_size : 0;
  part.places = agreement_.places;
  const int most = std::min(exchange::kMostLeaders, channel_.node_size());
  while (part.leaders < most && part.window_size > 0 && may_lead(part.leaders)) ++part.leaders;
  part.direction = direction == Direction::write ? NodePart::kWrites : NodePart::kReads;
  if (!meeting.agrees) part.direction = NodePart::kNoDirection;
  return part;
}

Path CollectiveTransfer::decide(Direction direction, const Meeting& meeting) {
  const std::lock_guard lock(mutex_);
  Choice& choice = this->choice(direction);
  choice.chosen.facts = meeting.facts;
  choice.chosen.for_call = policy::decide_call(choice.wish, meeting.facts);
  choice.chosen.lacked_memory = !slots_;
  return choice.chosen.lacked_memory ? Path::direct : choice.chosen.for_call->path;
}

Transferred CollectiveTransfer::staged_transfer(Access& access, FileOffset begin, FileOffset end,
                                                const Meeting& meeting, ByteCount sieve_size,
                                                const exchange::Waiter& waiter) {
  const exchange::StagedCall call{channel_,
                                  waiter,
                                  store_,
                                  *slots_,
                                  windows_,
                                  meeting.first_window,
                                  meeting.granule_shift,
                                  meeting.may_tile,
                                  channel_.is_crowded()};
  const Start start(access);
  exchange::StagedAccess staged{access.file,
                                access.memory,
                                access.buffer,
                                begin,
                                end,
                                access.bytes,
                                stores_for(meeting.facts.bytes, access.bytes)};
  const bool writes = access.direction == Direction::write;
  const exchange::StagedOutcome outcome =
      writes ? exchange::staged_write(call, staged) : exchange::staged_read(call, staged);
  return finish(access, start, outcome, sieve_size);
}

/// Moves what was not moved and may be by this rank's own calls.
Transferred CollectiveTransfer::finish(Access& access, const Start& start,
                                       const exchange::StagedOutcome& outcome,
                                       ByteCount sieve_size) {
  using exchange::StagedStop;
  const bool is_own_affair =
      access.direction == Direction::read || depends_on_the_writer(outcome.system_error);
  const bool moves_rest = outcome.stop == StagedStop::pieces_overlap ||
                          (outcome.stop == StagedStop::failed && is_own_affair);
  if (!moves_rest) return {outcome.bytes, outcome.system_error};
  // This rank's own calls have the last word on its own bytes.
  access.file.seek(start.file + outcome.bytes);
  access.memory.seek(start.memory + outcome.bytes);
  access.bytes -= outcome.bytes;
  const Transferred own = direct_transfer(store_, std::move(access), sieve_size);
  return {outcome.bytes + own.bytes, own.system_error};
}

}  // namespace headrace::engine
