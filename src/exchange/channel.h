#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "exchange/board.h"
#include "exchange/control.h"

namespace headrace::exchange {

class NodeTeam;
class SharedMemory;

/// A part of the node's shared memory for staging.
struct SlotMemory {
  std::byte* base = nullptr;
  std::int64_t offset = -1;  ///< in the node's shared memory: what other ranks need to find it
  std::size_t size = 0;
};

/// What the ranks of a team use to work on one open file. All its collective functions must be
/// called by all ranks in the same order; two channels are independent, so that several threads may
/// each work on a file of their own.
class Channel {
 public:
  Channel(std::shared_ptr<NodeTeam> team, int id, std::uint64_t round);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int rank() const;
  int size() const;
  int node_rank() const;
  int node_size() const;
  int node_count() const;
  Waiter waiter() const;  ///< of a thread of the program
  /// Whether the node has more ranks than cores: those that wait sleep, and take turns.
  bool is_crowded() const { return waiter().spins == 0; }

  /// Collective: values[i] becomes the combination of all ranks' values[i] by ways[i], on all
  /// ranks. Values without a way are undefined afterwards. Nobody returns before all have called.
  Error combine(Values& values, std::span<const Combine> ways);
  Error barrier();
  /// As Messenger::exchange, with the channel's tag; for threads of the program.
  Error exchange(int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming);

  /// Of one number a rank: the sum over the ranks before this one, and over all.
  struct Scan {
    std::int64_t before = 0;
    std::int64_t total = 0;
  };
  /// Collective, like combine(). Sums that are too large end at the largest number.
  Result<Scan> scan(std::int64_t mine);

  /// The shared pointer, which lies at the first rank; `cell` is 0 or 1. Moves it by `etypes` and
  /// returns where it was. From any thread; needs no other rank to call anything. Ranks of other
  /// nodes than the first rank's ask its process over the network.
  Result<std::int64_t> advance_pointer(int cell, std::int64_t etypes);
  /// The first rank's call.
  void set_pointer(int cell, std::int64_t position);

  /// Locks among all threads of this node's ranks; from any thread.
  RangeLocks& node_locks() { return control_ != nullptr ? control_->locks : own_->locks; }
  /// Locks among the threads of this process.
  RangeLocks& own_locks() { return own_->locks; }

  /// The node's board, for rounds among the ranks of a node only. Null where this rank is alone.
  Board* board() { return board_ ? &*board_ : nullptr; }
  /// Null where this rank is alone on its node.
  Control* control() { return control_; }

  /// The same in calls in which nodes exchange: a rank that is alone on its node has its own.
  Board& call_board() { return board_ ? *board_ : *own_->lone_board; }
  Control& call_control() { return control_ != nullptr ? *control_ : own_->lone->control; }
  int node_index() const;
  /// The rank that leads a node; its further leaders are the node's next ranks, as far as it has
  /// them.
  int leader_of(int node, int leader = 0) const;
  /// A rank that is alone leads its node.
  bool is_leader() const { return node_rank() == 0; }
  /// Messages between leaders, each kind with a tag of its own.
  enum class MessageKind { meeting, part, answer };
  int tag_of(MessageKind kind) const;
  Messenger& messenger();
  /// The leaders' call, collective among them: what each gave, in the order of the nodes, into
  /// `all`, with a `scratch` of the same size. Takes no memory.
  Error meet_leaders(std::span<const std::byte> mine, std::span<std::byte> scratch,
                     std::span<std::byte> all);
  /// The leaders' call, collective among them: whether all are ready. Takes no memory.
  Result<bool> are_leaders_ready(bool mine);
  /// Whether helper threads may send messages, on all ranks; else only threads of the program.
  bool helpers_send() const;
  /// The leader tells the ranks of its node what holds in the board's current round.
  void publish(const Values& values);
  bool is_published();
  const Values& wait_for_published(const Waiter& waiter);

  /// The leader's call: memory for staging slots from the node's budget, or none.
  std::optional<SlotMemory> reserve_slots(std::size_t size);
  /// The same memory as the leader's `offset` names it.
  SlotMemory slots_at(std::int64_t offset, std::size_t size) const;
  /// The leader's call, when nobody uses them any more.
  void return_slots(const SlotMemory& slots);

  /// Tells the node that a write failed, so that all learn of it at the next sync or close.
  void note_failed_write(int system_error);

 private:
  /// What the ranks of a node share, of a rank that is alone on its node.
  struct Lone {
    Control control{};
    std::array<Post, kBoardDepth> posts{};
  };

  /// What would be in Control, where there is none or each process needs its own.
  struct Own {
    SharedPointer pointer{};
    RangeLocks locks{};
    std::unique_ptr<Lone> lone;  ///< where this rank is alone on one of several nodes
    std::optional<Board> lone_board;
    std::unique_ptr<std::byte[]> lone_slots;
  };

  void use(SharedMemory& memory, std::uint64_t round);
  Error combine_between_nodes(Values& values, std::span<const Combine> ways);
  Result<std::int64_t> sum_before(std::int64_t mine);
  std::optional<SlotMemory> lone_slots(std::size_t place, std::size_t size);
  std::optional<SlotMemory> shared_slots(std::size_t place, std::size_t size);
  /// Null where the first rank is on another node.
  SharedPointer* near_pointer();

  std::shared_ptr<NodeTeam> team_;
  int id_;
  Control* control_ = nullptr;
  std::unique_ptr<Own> own_;
  std::optional<Board> board_;
};

}  // namespace headrace::exchange
