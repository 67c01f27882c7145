#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "fabric/board.h"
#include "fabric/combining.h"
#include "topo/node_map.h"
#include "topo/page_relay.h"

namespace headrace::fabric {

class NodeMemory;
class Team;

/// Where a team puts a channel; see Team::open_channel.
struct ChannelPlace {
  int id = 0;
  std::uint64_t round = 0;  ///< the last round of the board that was there before
};

/// What the ranks of a team use to talk about one thing, such as an open file. All ranks must call
/// a channel's collective functions in the same order. Channels are independent: several threads
/// may each use a channel of their own.
class Channel : public Combining {
 public:
  Channel(std::shared_ptr<Team> team, ChannelPlace place);
  ~Channel() override;

  const topo::NodeMap& nodes() const;
  Waiter waiter() const;  ///< of a thread of the program
  /// Whether the node has more ranks than cores. Then ranks that wait sleep instead of spinning.
  bool is_crowded() const { return waiter().spins == 0; }

  Error combine_posted(PostedValue& value, CombinePosted way) override;
  Error barrier();
  /// Like Messenger::exchange, with the channel's tag. For threads of the program only.
  Error exchange(int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming);

  /// Sums of one number from each rank: over the ranks before this one, and over all.
  struct Scan {
    std::int64_t before = 0;
    std::int64_t total = 0;
  };
  /// Collective, like combine(). A sum that would overflow is the largest number.
  Result<Scan> scan(std::int64_t mine);

  /// Whether the channel has a board: not if the team has one rank only.
  bool has_board() const { return board_.has_value(); }
  /// The board of this node's ranks. A rank that is alone on one of several nodes has a board for
  /// itself.
  Board& board() {
    assert(has_board());
    return *board_;
  }
  /// The relay between the node's first and last rank. Call only if the node has several ranks.
  topo::PageRelay& page_relay() {
    assert(nodes().shares_node());
    return *reinterpret_cast<topo::PageRelay*>(block_ + relay_offset());
  }
  NodeMemory& memory();

  /// A channel has so many kinds of messages, each with a tag of its own. exchange() uses kind 0.
  static constexpr int kTagKinds = 3;
  int tag(int kind) const;
  Messenger& messenger() const;
  /// Whether helper threads may send messages, on all ranks. If not, only threads of the program
  /// may.
  bool helpers_send() const;

 protected:
  int id() const { return id_; }
  /// The channel's bytes in the node's shared memory (ChannelNeeds::state_bytes); null if this rank
  /// is alone on its node.
  std::byte* shared_state() const;

 private:
  /// The board of a rank that is alone on one of several nodes.
  struct LoneBoard {
    BoardState state{};
    std::array<Post, kBoardDepth> posts{};
  };

  std::size_t relay_offset() const;
  Error combine_between_nodes(PostedValue& value, CombinePosted way);
  Result<std::int64_t> sum_before(std::int64_t mine);

  std::shared_ptr<Team> team_;
  int id_;
  std::byte* block_ = nullptr;  ///< in the node's shared memory
  std::unique_ptr<LoneBoard> lone_;
  std::optional<Board> board_;
};

}  // namespace headrace::fabric
