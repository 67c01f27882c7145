#include "fabric/team.h"

#include <algorithm>

#include "fabric/combined.h"
#include "topo/node.h"

namespace headrace::fabric {
namespace {

/// How often a waiting rank looks at shared memory before it sleeps: some hundred microseconds, in
/// which a peer writes a window. Pays only if all ranks of the node can run at the same time.
constexpr int kSpinsWithACoreEach = 5000;

}  // namespace

Team::Team(Messenger& messenger, Parts parts)
    : messenger_(messenger),
      nodes_(std::move(parts.nodes)),
      shared_memory_(std::move(parts.memory)),
      layout_(parts.layout),
      memory_(shared_memory_.get(), layout_, nodes_.size() > 1),
      sharing_(std::move(parts.sharing)),
      helpers_send_(parts.helpers_send),
      may_stay_(parts.may_stay),
      in_use_(kMaxChannels, false),
      committed_(kMaxChannels, false),
      rounds_(kMaxChannels, 0) {
  std::fill_n(committed_.begin(), 1 + layout_.channels_at_once(), true);
  // A rank that is alone need not count cores, which takes longer than the rest of its first open.
  const bool has_cores = !nodes_.shares_node() || nodes_.node_size() <= topo::node_cores();
  if (has_cores) spins_ = kSpinsWithACoreEach;
}

void Team::open_root() {
  in_use_[0] = true;
  // The root channel must not keep its own team alive.
  root_ = std::make_unique<Channel>(std::shared_ptr<Team>(std::shared_ptr<void>(), this),
                                    ChannelPlace{});
}

Error Team::agree(const Error& mine) {
  return agree_on_memory(mine, [this](bool is_ready) -> Result<bool> {
    Sum failing{is_ready ? 0 : 1};
    if (Error error = root_->combine(failing)) return error;
    return failing.value == 0;
  });
}

int Team::reserve_id() {
  const std::lock_guard lock(mutex_);
  const int most = std::min(kMaxChannels, messenger_.largest_tag());
  for (int id = 1; id < most; ++id) {
    if (in_use_[static_cast<std::size_t>(id)]) continue;
    in_use_[static_cast<std::size_t>(id)] = true;
    return id;
  }
  return -1;
}

Error Team::open_channel_by(const std::function<void(ChannelPlace)>& make) {
  // The first rank chooses a place. If it is free there, it is free everywhere or about to be,
  // since closing a channel is collective and boards go on counting.
  Greatest chosen{nodes_.rank() == 0 ? reserve_id() : -1};
  if (Error error = root_->combine(chosen)) return error;
  const auto id = static_cast<int>(chosen.value);
  if (id < 0) {
    return {ErrorClass::no_memory, 0,
            std::string("cannot open another ") + layout_.use() + " (" +
                std::to_string(kMaxChannels - 1) +
                " are open on this communicator), close some first"};
  }
  const ChannelPlace place = take_place(id);
  bool ready = !attempt([&]() -> Error {
    make(place);
    return {};
  });
  if (!ready) close_channel(place);
  const auto index = static_cast<std::size_t>(id);
  if (ready && shared_memory_ != nullptr && nodes_.is_leader() && !committed_[index]) {
    ready = shared_memory_->commit(layout_.channel_offset(id), layout_.channel_bytes());
    committed_[index] = ready;
  }
  Sum failing{ready ? 0 : 1};
  if (Error error = root_->combine(failing)) return error;
  if (failing.value == 0) return {};
  return {ErrorClass::no_memory, 0,
          std::string("cannot open another ") + layout_.use() +
              " (no shared memory is left on a node), close some files, make room in /dev/shm "
              "there or set HEADRACE_SHARED_MEMORY=none"};
}

/// Takes the place that the first rank reserved. Another thread of this rank may still be closing
/// the channel that had it: only afterwards is its board's last round known.
ChannelPlace Team::take_place(int id) {
  const auto index = static_cast<std::size_t>(id);
  std::unique_lock lock(mutex_);
  if (nodes_.rank() != 0) {
    place_left_.wait(lock, [&] { return !in_use_[index]; });
    in_use_[index] = true;
  }
  return {id, rounds_[index]};
}

void Team::close_channel(ChannelPlace place) {
  const auto index = static_cast<std::size_t>(place.id);
  const std::lock_guard lock(mutex_);
  in_use_[index] = false;
  rounds_[index] = place.round;
  place_left_.notify_all();
}

}  // namespace headrace::fabric
