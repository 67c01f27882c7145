#include "file/collective_transfer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/settings.h"
#include "file/meeting_post.h"
#include "policy/streaming.h"
#include "record/call_timer.h"
#include "topo/node.h"

namespace headrace::file {
namespace {

using policy::Path;

/// Whether another rank might have succeeded: the errno stands for a limit of a process or a user,
/// or for a descriptor that the program closed. The rank whose bytes they are may have other limits
/// than the rank that wrote them.
bool depends_on_the_writer(int system_error) {
  return system_error == EFBIG || system_error == EDQUOT || system_error == EACCES ||
         system_error == EPERM || system_error == EBADF;
}

plan::RankRange range_of(const Access& access) {
  if (access.bytes == 0) return {};
  const view::Cursor& file = access.file;
  const FileOffset last =
      view::offset_of(*file.type(), file.origin(), file.position() + access.bytes - 1);
  return {file.peek(), last + 1, access.bytes};
}

exchange::StagedAccess staged_access(Access& access, const plan::RankRange& range) {
  return {.file = access.file,
          .memory = access.memory,
          .buffer = access.buffer,
          .begin = range.begin,
          .end = range.end,
          .bytes = access.bytes,
          .staging = access.staging};
}

}  // namespace

CollectiveTransfer::CollectiveTransfer(exchange::FileChannel& channel, storage::Store& store)
    : channel_(channel),
      store_(store),
      windows_(static_cast<std::size_t>(channel.nodes().node_size())),
      distance_(channel),
      nodes_(channel, store) {
  ranges_.reserve(static_cast<std::size_t>(channel.nodes().node_size()));
  first_pieces_.reserve(static_cast<std::size_t>(channel.nodes().node_size()));
}

CollectiveTransfer::~CollectiveTransfer() {
  if (slots_ && channel_.nodes().node_rank() == 0) channel_.memory().give_back(slots_->memory());
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
  storage::WriteTurnState* const turn = channel_.write_turn();
  if (takes_turns && turn != nullptr) store_.take_turns({*turn, channel_.nodes().node_rank()});
  distance_.measure();
}

void CollectiveTransfer::set_atomic(bool atomic) {
  const std::lock_guard lock(mutex_);
  agreement_.view.is_atomic = atomic;
  choose();
}

DomainHints CollectiveTransfer::domains() const {
  return {.alignment = agreement_.alignment,
          .aggregators = agreement_.aggregators,
          .stripe = agreement_.stripe,
          .stripe_count = agreement_.stripe_count,
          .window = agreement_.window_size,
          .large = agreement_.node_window,
          .lock_ahead = agreement_.lock_ahead};
}

void CollectiveTransfer::choose() {
  const DomainHints domains = this->domains();
  if (const int nodes = channel_.nodes().node_count(); nodes > 1) {
    leaders_ = leaders_to_prepare(domains, nodes, channel_.nodes().node_size(), topo::node_cores());
  }
  const bool has_one_owner = agreement_.layout.locks_whole_files && agreement_.stripe_count == 1 &&
                             asked_aggregators(domains) == 0;
  const bool helpers_send = channel_.helpers_send();
  write_.choose(agreement_.write_path, agreement_.view, has_one_owner, helpers_send);
  read_.choose(agreement_.read_path, agreement_.view, has_one_owner, helpers_send);
}

exchange::MessageBuffers::Sent CollectiveTransfer::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

ByteCount CollectiveTransfer::window_size() const {
  const std::lock_guard lock(mutex_);
  return geometry_.window_size;
}

CollectiveTransfer::Moved CollectiveTransfer::transfer(Access& access, ByteCount sieve_size,
                                                       const fabric::Waiter& waiter,
                                                       bool is_in_background) {
  const plan::RankRange range = range_of(access);
  PathChoice& choice = this->choice(access.direction);
  choice.note_call(false);
  if (choice.is_between_nodes()) {
    const bool exchanges = choice.meets_between_nodes(is_in_background);
    choice.note_stay(!exchanges);
    announce(access, range, waiter, exchanges);
    if (exchanges) return transfer_between_nodes(access, range, sieve_size, waiter);
  } else if (access.bytes > 0 && is_independent(access, range)) {
    announce(access, {range.begin, range.end, 0}, waiter, false);
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  } else {
    announce(access, range, waiter, false);
  }
  if (access.bytes == 0) return {};
  return transfer_within_node(access, range, meet(access.direction, waiter), sieve_size, waiter);
}

CollectiveTransfer::Moved CollectiveTransfer::transfer_within_node(Access& access,
                                                                   const plan::RankRange& range,
                                                                   const Meeting& meeting,
                                                                   ByteCount sieve_size,
                                                                   const fabric::Waiter& waiter) {
  PathChoice& choice = this->choice(access.direction);
  if (!meeting.agrees || choice.decide(meeting.facts, slots_.has_value()) == Path::direct) {
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  }
  return {staged_transfer(access, range, meeting, sieve_size, waiter), Path::staged};
}

/// Leaders stay even without data, since others need them.
CollectiveTransfer::Moved CollectiveTransfer::transfer_between_nodes(Access& access,
                                                                     const plan::RankRange& range,
                                                                     ByteCount sieve_size,
                                                                     const fabric::Waiter& waiter) {
  const bool may_be_leader = channel_.nodes().is_leader() || may_lead(channel_.nodes().node_rank());
  if (!may_be_leader && access.bytes == 0) return {};
  std::optional<Meeting> meeting;
  const ExchangedTransfer::Agreed agreed = agree_between_nodes(access.direction, meeting, waiter);
  choice(access.direction).note_agreed(agreed);
  if (channel_.nodes().is_leader()) choice(access.direction).note_correction(nodes_.correction());
  if (agreed.choice.decision.is_chosen) {
    return exchanged_transfer(access, range, agreed, sieve_size, waiter);
  }
  if (access.bytes == 0) return {};
  if (choice(access.direction).for_node() == Path::direct) {
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  }
  if (!meeting) meeting.emplace(meet(access.direction, waiter));
  return transfer_within_node(access, range, *meeting, sieve_size, waiter);
}

/// The first leader tells the ranks that are ready to lead whether they do.
ExchangedTransfer::Agreed CollectiveTransfer::agree_between_nodes(Direction direction,
                                                                  std::optional<Meeting>& meeting,
                                                                  const fabric::Waiter& waiter) {
  const record::InPhase phase(record::Phase::meet);
  const policy::PathHint hint = choice(direction).hint();
  if (channel_.nodes().is_leader()) {
    meeting.emplace(meet(direction, waiter));
    return nodes_.lead(node_part(direction, *meeting), meeting->first_window, hint, domains(),
                       slots_ ? &*slots_ : nullptr, waiter);
  }
  if (may_lead(channel_.nodes().node_rank()) && nodes_.is_wanted(waiter)) {
    meeting.emplace(meet(direction, waiter));
    nodes_.prepare(meeting->first_window, hint, domains(), *slots_);
  }
  const ExchangedTransfer::Agreed agreed = nodes_.follow(waiter);
  find_slots(direction, channel_.board().posted_by<MeetingPost>(0));
  return agreed;
}

CollectiveTransfer::Moved CollectiveTransfer::exchanged_transfer(
    Access& access, const plan::RankRange& range, const ExchangedTransfer::Agreed& agreed,
    ByteCount sieve_size, const fabric::Waiter& waiter) {
  const bool leads = channel_.nodes().node_rank() < agreed.choice.leading.leaders;
  const bool has_data = access.bytes > 0;
  if (!leads && !has_data) return {};
  const Start start(access);
  exchange::StagedAccess staged = staged_access(access, range);
  const exchange::StagedOutcome outcome =
      nodes_.move(access.direction, agreed, *slots_, leads ? &windows_ : nullptr,
                  has_data ? &staged : nullptr, waiter);
  {
    const std::lock_guard lock(mutex_);
    sent_ = nodes_.sent();
  }
  if (!has_data) return {};
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
  const int most = std::min(exchange::kMaxLeaders, channel_.nodes().node_size());
  while (part.leaders < most && part.window_size > 0 && may_lead(part.leaders)) ++part.leaders;
  part.direction = direction == Direction::write ? NodePart::kWrites : NodePart::kReads;
  if (!meeting.agrees) part.direction = NodePart::kNoDirection;
  return part;
}

Transferred CollectiveTransfer::staged_transfer(Access& access, const plan::RankRange& range,
                                                const Meeting& meeting, ByteCount sieve_size,
                                                const fabric::Waiter& waiter) {
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
  exchange::StagedAccess staged = staged_access(access, range);
  staged.stores = policy::stores_for(meeting.facts.bytes, access.bytes);
  const bool writes = access.direction == Direction::write;
  const exchange::StagedOutcome outcome =
      writes ? exchange::staged_write(call, staged) : exchange::staged_read(call, staged);
  return finish(access, start, outcome, sieve_size);
}

/// Moves by this rank's own calls what was not moved and may be.
Transferred CollectiveTransfer::finish(Access& access, const Start& start,
                                       const exchange::StagedOutcome& outcome,
                                       ByteCount sieve_size) {
  using exchange::StagedStop;
  const bool is_own_affair =
      access.direction == Direction::read || depends_on_the_writer(outcome.system_error);
  const bool moves_rest = outcome.stop == StagedStop::pieces_overlap ||
                          (outcome.stop == StagedStop::failed && is_own_affair);
  if (!moves_rest) return {outcome.bytes, outcome.system_error};
  // The results of this rank's own calls count for its bytes.
  access.file.seek(start.file + outcome.bytes);
  access.memory.seek(start.memory + outcome.bytes);
  access.bytes -= outcome.bytes;
  const Transferred own = direct_transfer(store_, std::move(access), sieve_size);
  return {outcome.bytes + own.bytes, own.system_error};
}

}  // namespace headrace::file
