#pragma once

#include <cstdint>

#include "base/types.h"
#include "exchange/file_channel.h"
#include "exchange/slots.h"
#include "exchange/staged_call.h"
#include "plan/exchange_plan.h"
#include "storage/store.h"

namespace headrace::exchange {

// Collective buffering between nodes. A node has one or several leaders, which share its windows
// and messages. Every window has an owner: the node that writes and reads it (plan::Owners, known
// to leaders). On each node the ranks' pieces go through slots of shared memory, as in a staged
// call. For a window that another node owns, the leader sends the node's part to the owner's
// leader, or gets it from there; a message is about one or two windows. All nodes number the
// windows alike, in file order, and give them slots in this order, even those that a node has no
// part in. So the first window that is not done has a slot on every node, and nodes never wait for
// each other in a circle. A slot whose part is sent goes to the next window at once; an own window
// keeps its slot until it is written. So all nodes write at the same time.
//
// If windows are small and a node has slots for two windows of each aggregator, one message carries
// the parts of two windows. Such a message waits for the second window, so the rule must hold for
// blocks of windows: the plan joins only windows of one block, and all windows of a block have
// slots once the blocks before are done.

class MessageBuffers;

/// What all ranks of a node know of an exchanged call.
struct ExchangedCall {
  FileChannel& channel;
  fabric::Waiter waiter;
  storage::Store& store;
  Slots& slots;
  /// One window that the node's ranks touch, by its number and its place in the file. The windows
  /// that they touch are consecutive.
  std::int64_t known_window;
  FileOffset known_begin;
  ByteCount window_size;
  int granule_shift;  ///< every piece of any node begins and ends at a multiple of 1 << this
  int leaders;        ///< on each node

  Staging& staging() const { return channel.staging(); }
  fabric::Event& event() const { return channel.board().event(); }
  std::uint64_t round() const { return channel.board().round(); }

  std::int64_t window_of(FileOffset offset) const {
    return known_window + (offset - known_begin) / window_size;
  }
  FileOffset begin_of(std::int64_t window) const {
    return known_begin + (window - known_window) * window_size;
  }

  LeaderState& state(int leader) const {
    return staging().leaders[static_cast<std::size_t>(leader)];
  }
  ExchangeEnd& end(int leader) const { return state(leader).ends[round() % fabric::kBoardDepth]; }
  /// The first of the node's own windows that could not be written, among those of `leader`.
  StagingFailure& failure(int leader) const {
    return state(leader).failures[round() % fabric::kBoardDepth];
  }
  bool has_failed(int leader) const {
    return failure(leader).round.load(std::memory_order_acquire) == round();
  }

  template <class Holds>
  bool holds_for_all_leaders(int first, Holds holds) const {
    for (int leader = first; leader < leaders; ++leader) {
      if (!holds(leader)) return false;
    }
    return true;
  }
  /// Whether the leaders have ended the call.
  bool has_ended() const {
    return holds_for_all_leaders(0, [&](int leader) {
      return end(leader).round.load(std::memory_order_acquire) == round();
    });
  }
  /// After the end: up to where all given bytes are in the file, and why not further.
  WriteStop stop() const {
    WriteStop first = end(0).stop;
    for (int leader = 1; leader < leaders; ++leader) {
      if (end(leader).stop.done_end < first.done_end) first = end(leader).stop;
    }
    return first;
  }
};

/// What a leader knows in addition.
struct LeaderCall {
  const ExchangedCall& call;
  const plan::ExchangePlan& plan;
  const plan::Windows& ranks;  ///< the windows of this node's ranks, and who takes part in each
  std::int64_t first_window;   ///< the plan's window 0, counted over all calls of the channel
  MessageBuffers& buffers;
  int leader;       ///< which of the node's leaders this is
  bool lock_ahead;  ///< ask the file system for locks of own windows before they are written
};

/// The part of a rank that has data and does not lead.
StagedOutcome exchanged_write(const ExchangedCall& call, StagedAccess& access);
StagedOutcome exchanged_read(const ExchangedCall& call, StagedAccess& access);

/// A leader's part; `access` is null if the leader has no data of its own. When it returns, the
/// leader's share of the call is over on this node. `broken`: its messages failed, and later ones
/// would fail, too.
struct LeaderOutcome {
  StagedOutcome own;
  bool broken = false;
};
LeaderOutcome lead_exchanged_write(const LeaderCall& call, StagedAccess* access);
LeaderOutcome lead_exchanged_read(const LeaderCall& call, StagedAccess* access);

}  // namespace headrace::exchange
