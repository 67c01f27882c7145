#include "exchange/node_team.h"

#include <algorithm>

#include "base/rounding.h"
#include "topo/node.h"

namespace headrace::exchange {
namespace {

/// Looks at shared memory before a rank sleeps: some hundred microseconds, in which a peer writes a
/// window. Pays only where all ranks of the node can run at the same time.
constexpr int kSpinsWithACoreEach = 5000;

}  // namespace

MemoryLayout::MemoryLayout(int node_size, std::size_t slot_bytes)
    : channel_bytes_(round_up<std::size_t>(
          sizeof(Control) + kBoardDepth * static_cast<std::size_t>(node_size) * sizeof(Post),
          kPage)),
      slot_bytes_(slot_bytes) {}

std::size_t MemoryLayout::channel_offset(int id) const {
  return kPage + static_cast<std::size_t>(id) * channel_bytes_;
}

std::size_t MemoryLayout::slots_offset() const {
  return round_up(channel_offset(kMostChannels), std::size_t{1} << 21);
}

NodeTeam::NodeTeam(Messenger& messenger, const SharedPointerHome& home, Parts parts)
    : messenger_(messenger),
      node_ranks_(std::move(parts.node_ranks)),
      leaders_(std::move(parts.leaders)),
      further_leaders_(std::move(parts.further_leaders)),
      memory_(std::move(parts.memory)),
      layout_(static_cast<int>(node_ranks_.size()), parts.slot_bytes),
      slot_pool_(parts.slot_bytes),
      sharing_(std::move(parts.sharing)),
      pointer_host_(std::move(parts.pointer_host)),
      helpers_send_(parts.helpers_send),
      in_use_(MemoryLayout::kMostChannels, false),
      committed_(MemoryLayout::kMostChannels, false),
      rounds_(MemoryLayout::kMostChannels, 0) {
  const auto place_in = [](const std::vector<int>& ranks, int rank) {
    return static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin());
  };
  std::fill_n(committed_.begin(), MemoryLayout::kChannelsAtOnce, true);
  node_rank_ = place_in(node_ranks_, rank());
  node_index_ = place_in(leaders_, node_ranks_.front());
  // One rank need not ask, which takes longer than the rest of its first open.
  if (node_size() == 1 || node_size() <= topo::node_cores()) spins_ = kSpinsWithACoreEach;
  if (node_count() > 1 && !is_first_node()) {
    pointer_client_ = std::make_unique<SharedPointerClient>(home, rank());
  }
}

void NodeTeam::open_root() {
  in_use_[0] = true;
  // The root channel must not keep its own team alive.
  root_ = std::make_unique<Channel>(std::shared_ptr<NodeTeam>(std::shared_ptr<void>(), this), 0, 0);
}

int NodeTeam::reserve_id() {
  const std::lock_guard lock(mutex_);
  const int most = std::min(MemoryLayout::kMostChannels, messenger_.largest_tag());
  for (int id = 1; id < most; ++id) {
    if (in_use_[static_cast<std::size_t>(id)]) continue;
    in_use_[static_cast<std::size_t>(id)] = true;
    return id;
  }
  return -1;
}

Result<std::unique_ptr<Channel>> NodeTeam::open_channel() {
  // The first rank chooses. A place that is free there is free everywhere or about to be: closing a
  // file is collective, and boards go on counting.
  Values values{rank() == 0 ? reserve_id() : -1};
  constexpr Combine choose[] = {Combine::max};
  if (Error error = root_->combine(values, choose)) return error;
  const auto id = static_cast<int>(values[0]);
  if (id < 0) {
    return Error{ErrorClass::no_memory, 0,
                 "cannot open another file (" + std::to_string(MemoryLayout::kMostChannels - 1) +
                     " are open on this communicator), close some first"};
  }
  const auto place = static_cast<std::size_t>(id);
  const std::uint64_t round = take_place(id);
  std::unique_ptr<Channel> channel;
  bool ready = !attempt([&]() -> Error {
    channel = std::make_unique<Channel>(std::static_pointer_cast<NodeTeam>(shared_from_this()), id,
                                        round);
    return {};
  });
  if (!ready) close_channel(id, round);
  if (ready && memory_ != nullptr && is_leader() && !committed_[place]) {
    ready = memory_->commit(layout_.channel_offset(id), layout_.channel_bytes());
    committed_[place] = ready;
  }
  values[0] = ready ? 0 : 1;
  if (Error error = root_->combine(values, choose)) return error;
  if (values[0] == 0) return channel;
  return Error{
      ErrorClass::no_memory, 0,
      "cannot open another file (no shared memory is left on a node), close some files, make "
      "room in /dev/shm there or set HEADRACE_SHARED_MEMORY=none"};
}

/// Marks a place that the first rank reserved. Another thread of this rank may still be on its way
/// out of the file that had it; where that file's board stopped is known then.
std::uint64_t NodeTeam::take_place(int id) {
  const auto place = static_cast<std::size_t>(id);
  std::unique_lock lock(mutex_);
  if (rank() != 0) {
    place_left_.wait(lock, [&] { return !in_use_[place]; });
    in_use_[place] = true;
  }
  return rounds_[place];
}

void NodeTeam::close_channel(int id, std::uint64_t round) {
  const std::lock_guard lock(mutex_);
  in_use_[static_cast<std::size_t>(id)] = false;
  rounds_[static_cast<std::size_t>(id)] = round;
  place_left_.notify_all();
}

}  // namespace headrace::exchange
