#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/channel.h"
#include "fabric/memory_layout.h"
#include "fabric/messenger.h"
#include "fabric/node_memory.h"
#include "fabric/shared_memory.h"
#include "topo/node_map.h"

namespace headrace::fabric {

/// The ranks of one communicator, which of them share a node, and the node's shared memory. A team
/// lives while there are channels on it; if all ranks have room, as long as its communicator.
class Team : public std::enable_shared_from_this<Team> {
 public:
  /// Collective over the messenger's ranks. `node` identifies the node (see topo/node.h): ranks
  /// with equal values try to share memory; if that fails, each of them counts as a node of its
  /// own. `has_room`: whether this process may keep one more team.
  static Result<std::shared_ptr<Team>> create(std::unique_ptr<Messenger> messenger,
                                              const std::string& node, const ChannelNeeds& needs,
                                              bool has_room = true);

  const topo::NodeMap& nodes() const { return nodes_; }
  /// Whether all ranks have room to keep the team as long as its communicator.
  bool may_stay() const { return may_stay_; }
  Waiter waiter() const { return {&messenger_, spins_}; }  ///< of a thread of the program
  /// How the ranks of this node share memory, or why they do not; for people.
  const std::string& sharing() const { return sharing_; }

  /// Collective, in the same order on all ranks (as MPI requires of MPI_File_open): opens a
  /// channel, or an object derived from one, whose constructor gets the team, a place and `more`.
  template <class C, class... More>
  Result<std::unique_ptr<C>> open_channel(More&&... more);

  /// Collective: returns this rank's error; or out_of_memory() if another rank has an error.
  Error agree(const Error& mine);

  Messenger& messenger() const { return messenger_; }
  /// Whether helper threads may send messages, on all ranks.
  bool helpers_send() const { return helpers_send_; }
  NodeMemory& memory() { return memory_; }

  /// For channels. Null if this rank is alone on its node.
  SharedMemory* shared_memory() { return shared_memory_.get(); }
  const MemoryLayout& layout() const { return layout_; }
  /// Called by a channel that ends: frees its place.
  void close_channel(ChannelPlace place);

  /// What create() finds out.
  struct Parts {
    topo::NodeMap nodes;
    std::unique_ptr<SharedMemory> memory;
    MemoryLayout layout;
    std::string sharing;
    bool helpers_send = false;
    bool may_stay = true;
  };
  /// `messenger` must live until it is given to keep().
  Team(Messenger& messenger, Parts parts);

 private:
  friend class TeamMaker;

  /// Opens the team's own channel, over which ranks agree on all others.
  void open_root();
  void keep(std::unique_ptr<Messenger> messenger) { kept_messenger_ = std::move(messenger); }

  /// Collective: finds a place and calls `make` to make the channel there. If one rank fails, all
  /// do.
  Error open_channel_by(const std::function<void(ChannelPlace)>& make);
  /// Takes a free place and returns its number; -1 if none is left.
  int reserve_id();
  ChannelPlace take_place(int id);

  std::unique_ptr<Messenger> kept_messenger_;
  Messenger& messenger_;
  topo::NodeMap nodes_;
  int spins_ = 0;
  std::unique_ptr<SharedMemory> shared_memory_;
  MemoryLayout layout_;
  NodeMemory memory_;
  std::string sharing_;
  bool helpers_send_;
  bool may_stay_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable place_left_;
  std::vector<bool> in_use_;
  std::vector<bool> committed_;
  std::vector<std::uint64_t> rounds_;  ///< the last round of each channel's board

  std::unique_ptr<Channel> root_;  ///< last: its end uses the members above
};

template <class C, class... More>
Result<std::unique_ptr<C>> Team::open_channel(More&&... more) {
  std::unique_ptr<C> channel;
  const auto make = [&](ChannelPlace place) {
    channel = std::make_unique<C>(shared_from_this(), place, std::forward<More>(more)...);
  };
  if (Error error = open_channel_by(std::ref(make))) return error;
  return channel;
}

}  // namespace headrace::fabric
