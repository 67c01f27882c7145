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

/// A place of a team's for a channel, see Team::open_channel.
struct ChannelPlace {
  int id = 0;
  std::uint64_t round = 0;  ///< where the board that was there before ended
};

/// What the ranks of a team use to talk about one thing, such as an open file. All its collective
/// functions must be called by all ranks in the same order; two channels are independent, so that
/// several threads may each work with one of their own.
class Channel : public Combining {
 public:
  Channel(std::shared_ptr<Team> team, ChannelPlace place);
  ~Channel() override;

  const topo::NodeMap& nodes() const;
  Waiter waiter() const;  ///< of a thread of the program
  /// Whether the node has more ranks than cores: those that wait sleep, and take turns.
  bool is_crowded() const { return waiter().spins == 0; }

  Error combine_posted(PostedValue& value, CombinePosted way) override;
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

  /// Whether rounds on a board make sense: not for a rank that is all of the team.
  bool has_board() const { return board_.has_value(); }
  /// The node's board, for rounds among the ranks of a node only. A rank that is alone on one of
  /// several nodes has one for itself.
  Board& board() {
    assert(has_board());
    return *board_;
  }
  /// Of the node's first and last rank, where it has several.
  topo::PageRelay& page_relay() {
    assert(nodes().shares_node());
    return *reinterpret_cast<topo::PageRelay*>(block_ + relay_offset());
  }
  NodeMemory& memory();

  /// Messages of this channel's own, in so many kinds; kind 0 is what exchange() uses.
  static constexpr int kTagKinds = 3;
  int tag(int kind) const;
  Messenger& messenger() const;
  /// Whether helper threads may send messages, on all ranks; else only threads of the program.
  bool helpers_send() const;

 protected:
  int id() const { return id_; }
  /// Of ChannelNeeds: the channel's bytes in the node's shared memory; null where this rank is
  /// alone on its node.
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
