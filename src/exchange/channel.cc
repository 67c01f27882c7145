#include "exchange/channel.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/settings.h"
#include "exchange/messages.h"
#include "exchange/node_team.h"

namespace headrace::exchange {
namespace {

/// The first part of the slot memory stays when files return it: the next file finds it warm.
constexpr std::size_t kKeptSlotBytes = std::size_t{5} << 20;

}  // namespace

Channel::Channel(std::shared_ptr<NodeTeam> team, int id, std::uint64_t round)
    : team_(std::move(team)), id_(id) {
  SharedMemory* memory = team_->memory();
  if (memory == nullptr || team_->node_count() > 1) own_ = std::make_unique<Own>();
  if (memory != nullptr) use(*memory, round);
  if (memory == nullptr && team_->node_count() > 1) {
    own_->lone = std::make_unique<Lone>();
    own_->lone_board.emplace(own_->lone->control.event, own_->lone->posts, 0, 1, 0);
  }
  if (auto* const host = team_->pointer_host()) host->add_channel(id_, *near_pointer());
}

void Channel::use(SharedMemory& memory, std::uint64_t round) {
  std::byte* place = memory.base() + team_->layout().channel_offset(id_);
  control_ = reinterpret_cast<Control*>(place);
  const auto ranks = static_cast<std::size_t>(team_->node_size());
  auto* posts = reinterpret_cast<Post*>(place + sizeof(Control));
  board_.emplace(control_->event, std::span<Post>(posts, kBoardDepth * ranks), team_->node_rank(),
                 team_->node_size(), round);
}

Channel::~Channel() {
  if (auto* const host = team_->pointer_host()) host->remove_channel(id_);
  team_->close_channel(id_, board_ ? board_->round() : 0);
}

int Channel::rank() const {
  return team_->rank();
}
int Channel::size() const {
  return team_->size();
}
int Channel::node_rank() const {
  return team_->node_rank();
}
int Channel::node_size() const {
  return team_->node_size();
}
int Channel::node_count() const {
  return team_->node_count();
}
int Channel::node_index() const {
  return team_->node_index();
}
int Channel::leader_of(int node, int leader) const {
  if (leader > 0) return team_->further_leader(node, leader);
  return team_->leaders()[static_cast<std::size_t>(node)];
}
int Channel::tag_of(MessageKind kind) const {
  static_assert(3 * MemoryLayout::kMostChannels <= 32767, "tags that MPI guarantees");
  return id_ + static_cast<int>(kind) * MemoryLayout::kMostChannels;
}
Messenger& Channel::messenger() {
  return team_->messenger();
}
bool Channel::helpers_send() const {
  return team_->helpers_send();
}
Waiter Channel::waiter() const {
  return team_->waiter();
}

Error Channel::combine(Values& values, std::span<const Combine> ways) {
  if (!board_) return combine_between_nodes(values, ways);
  const Waiter waiter = this->waiter();
  const std::uint64_t round = board_->post(waiter, values);
  if (team_->node_count() == 1) {
    values = board_->combine(waiter, ways);
    return {};
  }
  Published& published = control_->published[round % kBoardDepth];
  if (team_->is_leader()) {
    values = board_->combine(waiter, ways);
    Error error = combine_between_nodes(values, ways);
    published.values = values;
    published.failed = error ? 1 : 0;
    published.round.store(round, std::memory_order_release);
    control_->event.signal();
    return error;
  }
  control_->event.wait(waiter,
                       [&] { return published.round.load(std::memory_order_acquire) >= round; });
  values = published.values;
  if (published.failed == 0) return {};
  return {ErrorClass::other, 0,
          "the nodes of this file cannot reach each other (a message failed), see the messages of "
          "the MPI library"};
}

Error Channel::combine_between_nodes(Values& values, std::span<const Combine> ways) {
  if (team_->node_count() == 1) return {};
  static_assert(sizeof(Values) <= kLargestReduced);
  const auto merge = [ways](std::span<std::byte> into, std::span<const std::byte> from) {
    Values a;
    Values b;
    std::memcpy(&a, into.data(), sizeof a);
    std::memcpy(&b, from.data(), sizeof b);
    merge_values(a, b, ways);
    std::memcpy(into.data(), &a, sizeof a);
  };
  return reduce_to_all(team_->messenger(), id_, team_->leaders(), team_->node_index(),
                       std::as_writable_bytes(std::span(values)), merge);
}

Error Channel::meet_leaders(std::span<const std::byte> mine, std::span<std::byte> scratch,
                            std::span<std::byte> all) {
  return allgather(team_->messenger(), tag_of(MessageKind::meeting), team_->leaders(),
                   team_->node_index(), mine, scratch, all);
}

Result<bool> Channel::are_leaders_ready(bool mine) {
  return is_true_everywhere(team_->messenger(), tag_of(MessageKind::meeting), team_->leaders(),
                            team_->node_index(), mine);
}

void Channel::publish(const Values& values) {
  const std::uint64_t round = call_board().round();
  Published& published = call_control().published[round % kBoardDepth];
  published.values = values;
  published.failed = 0;
  published.round.store(round, std::memory_order_release);
  call_control().event.signal();
}

bool Channel::is_published() {
  const std::uint64_t round = call_board().round();
  return call_control().published[round % kBoardDepth].round.load(std::memory_order_acquire) >=
         round;
}

const Values& Channel::wait_for_published(const Waiter& waiter) {
  call_control().event.wait(waiter, [this] { return is_published(); });
  return call_control().published[call_board().round() % kBoardDepth].values;
}

Error Channel::barrier() {
  Values none{};
  return combine(none, {});
}

Error Channel::exchange(int to, std::span<const std::byte> outgoing, int from,
                        std::span<std::byte> incoming) {
  return team_->messenger().exchange(id_, to, outgoing, from, incoming);
}

Result<Channel::Scan> Channel::scan(std::int64_t mine) {
  Values values{mine};
  if (board_ && team_->node_count() == 1) {
    board_->post(waiter(), values);
    board_->wait_for_all(waiter());
    Scan scan;
    for (int i = 0; i < board_->ranks(); ++i) {
      if (i == board_->rank()) scan.before = scan.total;
      scan.total = add(scan.total, board_->values_of(i)[0]);
    }
    return scan;
  }
  const Result<std::int64_t> before = sum_before(mine);
  constexpr Combine ways[] = {Combine::sum};
  if (Error error = combine(values, ways)) return error;
  if (!before) return before.error();
  return Scan{before.value(), values[0]};
}

/// The sum over the ranks before this one, by messages between all ranks: in round k each rank
/// learns of 2^k more (Hillis and Steele, CACM 29(12), 1986).
Result<std::int64_t> Channel::sum_before(std::int64_t mine) {
  std::int64_t before = 0;
  for (int distance = 1; distance < size(); distance *= 2) {
    const std::int64_t known = add(before, mine);
    std::int64_t more = 0;
    const int to = rank() + distance < size() ? rank() + distance : -1;
    const int from = rank() - distance;
    const auto outgoing = std::as_bytes(std::span(&known, to < 0 ? 0 : 1));
    const auto incoming = std::as_writable_bytes(std::span(&more, from < 0 ? 0 : 1));
    if (Error error =
            team_->messenger().exchange(id_, to, outgoing, std::max(from, -1), incoming)) {
      return error;
    }
    before = add(before, more);
  }
  return before;
}

SharedPointer* Channel::near_pointer() {
  if (!team_->is_first_node()) return nullptr;
  return control_ != nullptr ? &control_->pointer : &own_->pointer;
}

Result<std::int64_t> Channel::advance_pointer(int cell, std::int64_t etypes) {
  std::int64_t before = 0;
  if (SharedPointer* const pointer = near_pointer()) {
    before = advance(pointer->cells[static_cast<std::size_t>(cell)], etypes);
  } else {
    const Result<std::int64_t> told = team_->pointer_client().advance(id_, cell, etypes);
    if (!told) return told;
    before = told.value();
  }
  if (before >= 0) return before;
  if (before == kPointerGone) {
    return Error{ErrorClass::file, 0,
                 "the shared pointer is gone (rank 0 has closed the file), close it on all ranks"};
  }
  return Error{ErrorClass::argument, 0,
               "the shared file pointer cannot go that far (it would not fit in 63 bits), seek to "
               "a smaller offset"};
}

void Channel::set_pointer(int cell, std::int64_t position) {
  near_pointer()->cells[static_cast<std::size_t>(cell)].store(position, std::memory_order_release);
}

std::optional<SlotMemory> Channel::reserve_slots(std::size_t size) {
  SharedMemory* memory = team_->memory();
  if (memory == nullptr && (!own_ || !own_->lone)) return std::nullopt;
  // One budget for all communicators that this rank leads on the node.
  const auto bytes = static_cast<ByteCount>(size);
  const ByteCount most = buffers_share(settings().node_memory);
  if (!take_memory_within(MemoryUse::buffers, bytes, most)) return std::nullopt;
  std::optional<SlotMemory> taken;
  if (const std::optional<std::size_t> place = team_->slot_pool().take(size)) {
    taken = memory == nullptr ? lone_slots(*place, size) : shared_slots(*place, size);
    if (!taken) team_->slot_pool().give_back(*place, size);
  }
  if (!taken) give_memory_back(MemoryUse::buffers, bytes);
  return taken;
}

std::optional<SlotMemory> Channel::shared_slots(std::size_t place, std::size_t size) {
  const std::size_t offset = team_->layout().slots_offset() + place;
  if (!team_->memory()->commit(offset, size)) return std::nullopt;
  return slots_at(static_cast<std::int64_t>(offset), size);
}

/// Memory of this process, for a rank that is alone on its node.
std::optional<SlotMemory> Channel::lone_slots(std::size_t place, std::size_t size) {
  own_->lone_slots.reset(new (std::nothrow) std::byte[size + kPage]);
  if (!own_->lone_slots) return std::nullopt;
  void* begin = own_->lone_slots.get();
  std::size_t room = size + kPage;
  return SlotMemory{static_cast<std::byte*>(std::align(kPage, size, begin, room)),
                    static_cast<std::int64_t>(place), size};
}

SlotMemory Channel::slots_at(std::int64_t offset, std::size_t size) const {
  return {team_->memory()->base() + offset, offset, size};
}

void Channel::return_slots(const SlotMemory& slots) {
  give_memory_back(MemoryUse::buffers, static_cast<ByteCount>(slots.size));
  if (team_->memory() == nullptr) {
    team_->slot_pool().give_back(static_cast<std::size_t>(slots.offset), slots.size);
    return own_->lone_slots.reset();
  }
  const std::size_t place = static_cast<std::size_t>(slots.offset) - team_->layout().slots_offset();
  const std::size_t kept =
      place < kKeptSlotBytes ? std::min(slots.size, kKeptSlotBytes - place) : 0;
  if (kept < slots.size) {
    team_->memory()->release(static_cast<std::size_t>(slots.offset) + kept, slots.size - kept);
  }
  team_->slot_pool().give_back(place, slots.size);
}

void Channel::note_failed_write(int system_error) {
  if (control_ == nullptr) return;
  control_->last_system_error.store(system_error, std::memory_order_relaxed);
  control_->failed_writes.fetch_add(1, std::memory_order_release);
}

}  // namespace headrace::exchange
