#include "fabric/channel.h"

#include <algorithm>
#include <cassert>

#include "fabric/combined.h"
#include "fabric/messages.h"
#include "fabric/team.h"

namespace headrace::fabric {

Channel::Channel(std::shared_ptr<Team> team, ChannelPlace place)
    : team_(std::move(team)), id_(place.id) {
  const topo::NodeMap& nodes = team_->nodes();
  if (SharedMemory* const memory = team_->shared_memory()) {
    block_ = memory->base() + team_->layout().channel_offset(id_);
    auto* const posts = reinterpret_cast<Post*>(block_ + team_->layout().posts_offset());
    const auto count = kBoardDepth * static_cast<std::size_t>(nodes.node_size());
    board_.emplace(*reinterpret_cast<BoardState*>(block_), std::span(posts, count),
                   nodes.node_rank(), nodes.node_size(), place.round);
  } else if (nodes.node_count() > 1) {
    lone_ = std::make_unique<LoneBoard>();
    board_.emplace(lone_->state, lone_->posts, 0, 1, 0);
  }
}

Channel::~Channel() {
  team_->close_channel({id_, block_ != nullptr ? board_->round() : 0});
}

const topo::NodeMap& Channel::nodes() const {
  return team_->nodes();
}
Waiter Channel::waiter() const {
  return team_->waiter();
}
NodeMemory& Channel::memory() {
  return team_->memory();
}
Messenger& Channel::messenger() const {
  return team_->messenger();
}
bool Channel::helpers_send() const {
  return team_->helpers_send();
}
std::size_t Channel::relay_offset() const {
  return team_->layout().relay_offset();
}
std::byte* Channel::shared_state() const {
  return block_ == nullptr ? nullptr : block_ + team_->layout().state_offset();
}

int Channel::tag(int kind) const {
  static_assert(kTagKinds * kMaxChannels <= 32767, "tags that MPI guarantees");
  assert(0 <= kind && kind < kTagKinds);
  return id_ + kind * kMaxChannels;
}

Error Channel::combine_posted(PostedValue& value, CombinePosted way) {
  if (!board_) return {};
  const Waiter waiter = this->waiter();
  board_->post(waiter, value);
  if (nodes().node_count() == 1) {
    value = board_->combine(waiter, way);
    return {};
  }
  if (nodes().is_leader()) {
    value = board_->combine(waiter, way);
    Error error = combine_between_nodes(value, way);
    board_->announce(value, static_cast<bool>(error));
    return error;
  }
  const Announcement& announced = board_->wait_for_announcement(waiter);
  value = announced.value;
  if (announced.failed == 0) return {};
  return {
      ErrorClass::other, 0,
      "the nodes cannot reach each other (a message failed), see the messages of the MPI library"};
}

Error Channel::combine_between_nodes(PostedValue& value, CombinePosted way) {
  static_assert(sizeof(PostedValue) <= kLargestReduced);
  const auto merge = [way](std::span<std::byte> into, std::span<const std::byte> from) {
    PostedValue a;
    PostedValue b;
    std::memcpy(&a, into.data(), sizeof a);
    std::memcpy(&b, from.data(), sizeof b);
    way(a, b);
    std::memcpy(into.data(), &a, sizeof a);
  };
  return reduce_to_all(messenger(), tag(0), nodes().leaders(), nodes().node_index(),
                       std::as_writable_bytes(std::span(&value, 1)), merge);
}

Error Channel::barrier() {
  PostedValue none{};
  return combine_posted(none, [](PostedValue&, const PostedValue&) {});
}

Error Channel::exchange(int to, std::span<const std::byte> outgoing, int from,
                        std::span<std::byte> incoming) {
  return messenger().exchange(tag(0), to, outgoing, from, incoming);
}

Result<Channel::Scan> Channel::scan(std::int64_t mine) {
  Sum sum{mine};
  if (board_ && nodes().node_count() == 1) {
    board_->post(waiter(), sum);
    board_->wait_for_all(waiter());
    Scan scan;
    for (int i = 0; i < board_->ranks(); ++i) {
      if (i == board_->rank()) scan.before = scan.total;
      add(scan.total, board_->posted_by<Sum>(i).value);
    }
    return scan;
  }
  const Result<std::int64_t> before = sum_before(mine);
  if (Error error = combine(sum)) return error;
  if (!before) return before.error();
  return Scan{before.value(), sum.value};
}

/// The sum over the ranks before this one, by messages between all ranks: in round k each rank adds
/// the numbers of 2^k more (Hillis and Steele, CACM 29(12), 1986).
Result<std::int64_t> Channel::sum_before(std::int64_t mine) {
  const int rank = nodes().rank();
  const int size = nodes().size();
  std::int64_t before = 0;
  for (int distance = 1; distance < size; distance *= 2) {
    std::int64_t known = before;
    add(known, mine);
    std::int64_t more = 0;
    const int to = rank + distance < size ? rank + distance : -1;
    const int from = rank - distance;
    const auto outgoing = std::as_bytes(std::span(&known, to < 0 ? 0 : 1));
    const auto incoming = std::as_writable_bytes(std::span(&more, from < 0 ? 0 : 1));
    if (Error error = exchange(to, outgoing, std::max(from, -1), incoming)) return error;
    add(before, more);
  }
  return before;
}

}  // namespace headrace::fabric
