#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exchange/channel.h"
#include "exchange/shared_memory.h"
#include "exchange/shared_pointer_client.h"
#include "exchange/shared_pointer_service.h"
#include "exchange/slot_pool.h"
#include "exchange/team.h"

namespace headrace::exchange {

/// Where the parts of a node's shared memory lie: the secret, then a control block and posts for
/// each channel, then the staging slots.
class MemoryLayout {
 public:
  MemoryLayout(int node_size, std::size_t slot_bytes);

  std::size_t channel_bytes() const { return channel_bytes_; }
  std::size_t channel_offset(int id) const;
  std::size_t slots_offset() const;
  std::size_t total() const { return slots_offset() + slot_bytes_; }

  /// Files that may be open on one communicator at a time.
  static constexpr int kMostChannels = 4096;
  /// Those that have memory as soon as a node shares any: all are agreed on through the first, and
  /// the second is the first file's.
  static constexpr int kChannelsAtOnce = 2;

 private:
  std::size_t channel_bytes_;
  std::size_t slot_bytes_;
};

/// The team as it is on one rank.
class NodeTeam : public Team {
 public:
  struct Parts {
    std::vector<int> node_ranks;
    std::vector<int> leaders;
    std::vector<int> further_leaders;  ///< kMostLeaders - 1 of each node, -1 where it has no more
    std::unique_ptr<SharedMemory> memory;
    std::size_t slot_bytes = 0;
    std::string sharing;  ///< how the node shares memory, or why not
    std::unique_ptr<SharedPointerService::Host> pointer_host;
    bool helpers_send = false;
  };

  /// `home`: of the shared pointers, where there are several nodes.
  NodeTeam(Messenger& messenger, const SharedPointerHome& home, Parts parts);

  int rank() const override { return messenger_.rank(); }
  int size() const override { return messenger_.size(); }
  int node_count() const override { return static_cast<int>(leaders_.size()); }
  Waiter waiter() const override { return {&messenger_, spins_}; }
  const std::string& shared_memory() const override { return sharing_; }
  Result<std::unique_ptr<Channel>> open_channel() override;

  /// The messenger given before, to live as long as the team.
  void keep(std::unique_ptr<Messenger> messenger) { kept_messenger_ = std::move(messenger); }

  /// Makes the channel that all others are agreed on through. Call once.
  void open_root();

  Messenger& messenger() { return messenger_; }
  /// Whether helper threads may send messages, on all ranks.
  bool helpers_send() const { return helpers_send_; }
  const std::vector<int>& leaders() const { return leaders_; }
  /// The node's leader of that number, from 1.
  int further_leader(int node, int leader) const {
    return further_leaders_[static_cast<std::size_t>(node * (kMostLeaders - 1) + leader - 1)];
  }
  int node_rank() const { return node_rank_; }
  int node_size() const { return static_cast<int>(node_ranks_.size()); }
  bool is_leader() const { return node_rank_ == 0; }
  bool is_first_node() const { return node_ranks_.front() == 0; }
  /// The node's number: its leader's place among the leaders.
  int node_index() const { return node_index_; }

  /// The first rank's, which has the shared pointers; null on one node.
  SharedPointerService::Host* pointer_host() { return pointer_host_.get(); }
  /// Of ranks that are not on the first node.
  SharedPointerClient& pointer_client() { return *pointer_client_; }

  SharedMemory* memory() { return memory_.get(); }
  const MemoryLayout& layout() const { return layout_; }
  SlotPool& slot_pool() { return slot_pool_; }

  /// Called by a channel that ends: its place may be used again.
  void close_channel(int id, std::uint64_t round);

 private:
  /// A free place, which is taken with that; -1 where none is left.
  int reserve_id();
  std::uint64_t take_place(int id);

  std::unique_ptr<Messenger> kept_messenger_;
  Messenger& messenger_;
  std::vector<int> node_ranks_;
  std::vector<int> leaders_;
  std::vector<int> further_leaders_;
  int node_rank_ = 0;
  int node_index_ = 0;
  int spins_ = 0;
  std::unique_ptr<SharedMemory> memory_;
  MemoryLayout layout_;
  SlotPool slot_pool_;
  std::string sharing_;
  std::unique_ptr<SharedPointerService::Host> pointer_host_;
  std::unique_ptr<SharedPointerClient> pointer_client_;
  bool helpers_send_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable place_left_;
  std::vector<bool> in_use_;
  std::vector<bool> committed_;
  std::vector<std::uint64_t> rounds_;  ///< where each channel's board goes on

  std::unique_ptr<Channel> root_;  ///< last: its end uses the members above
};

}  // namespace headrace::exchange
