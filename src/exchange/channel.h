#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "exchange/board.h"
#include "exchange/control.h"

namespace headrace::exchange {

class NodeTeam;
class SharedMemory;

/// How values of several ranks become one.
enum class Combine { min, max, sum };

/// into[i] becomes the combination of into[i] and from[i] by ways[i].
void merge_values(Values& into, const Values& from, std::span<const Combine> ways);

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

  /// The leader's call: memory for staging slots from the node's budget, or none.
  std::optional<SlotMemory> reserve_slots(std::size_t size);
  /// The same memory as the leader's `offset` names it.
  SlotMemory slots_at(std::int64_t offset, std::size_t size) const;
  /// The leader's call, when nobody uses them any more.
  void return_slots(const SlotMemory& slots);

  /// Tells the node that a write failed, so that all learn of it at the next sync or close.
  void note_failed_write(int system_error);

 private:
  /// What would be in Control, where there is none or each process needs its own.
  struct Own {
    SharedPointer pointer{};
    RangeLocks locks{};
  };

  void use(SharedMemory& memory, std::uint64_t round);
  Error combine_between_nodes(Values& values, std::span<const Combine> ways);
  Result<std::int64_t> sum_before(std::int64_t mine);
  /// Null where the first rank is on another node.
  SharedPointer* near_pointer();

  std::shared_ptr<NodeTeam> team_;
  int id_;
  Control* control_ = nullptr;
  std::unique_ptr<Own> own_;
  std::optional<Board> board_;
};

}  // namespace headrace::exchange
