#pragma once

#include <cstdint>

#include "base/types.h"
#include "exchange/file_channel.h"
#include "exchange/slots.h"
#include "exchange/staged_call.h"
#include "plan/exchange_plan.h"
#include "storage/store.h"

namespace headrace::exchange {

// Collective buffering between nodes. A node has one leader or several, who share its windows and
// messages among them. Every window has an owner, the node that writes and reads it
// (plan::Owners, known to leaders). On each node the ranks' pieces go through slots of shared
// memory, as in a staged call; what is not the node's own, its leader sends to the owner's leader,
// or gets from it, a message for a window or two. Windows are numbered alike on all nodes, in file
// order, and get slots in this order on every node, also those that it has nothing to do with: so
// the first window that is not done has a slot on every node, whatever the others do, and no node
// waits for another in a circle. A slot whose part is sent goes to the next window at once, while
// those of own windows are kept until these are written: as many nodes as there are write at a
// time.
//
// Where windows are small and a node has slots for two of each aggregator, one message has the
// parts of two windows. It waits for the second, so the rule holds for blocks: the plan joins
// windows of one block only, all of whose windows have slots when those before it are done.

class MessageBuffers;

/// What the ranks of a node know of a call in which nodes exchange.
struct ExchangedCall {
  FileChannel& channel;
  fabric::Waiter waiter;
  storage::Store& store;
  Slots& slots;
  /// A window that the node's ranks meet, by its number and its place in the file; all windows that
  /// they meet follow one another.
  std::int64_t known_window;
  FileOffset known_begin;
  ByteCount window_size;
  int granule_shift;  ///< every piece of any node begins and ends at a multiple of 1 << this
  int leaders;        ///< of each node

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
  /// The first of the node's own windows that a leader dealt with and that could not be written.
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
  /// Afterwards: how far all that was given is in the file, and why not further.
  WriteStop stop() const {
    WriteStop first = end(0).stop;
    for (int leader = 1; leader < leaders; ++leader) {
      if (end(leader).stop.done_end < first.done_end) first = end(leader).stop;
    }
    return first;
  }
};

/// What a leader knows besides.
struct LeaderCall {
  const ExchangedCall& call;
  const plan::ExchangePlan& plan;
  const plan::Windows& ranks;  ///< of this node: who takes part in a window
  std::int64_t first_window;   ///< the plan's window 0, counted over all calls of the channel
  MessageBuffers& buffers;
  int leader;       ///< which of the node's leaders this is
  bool lock_ahead;  ///< to ask the file system for the locks of own windows before they are written
};

/// The part of a rank that does not lead, with data.
StagedOutcome exchanged_write(const ExchangedCall& call, StagedAccess& access);
StagedOutcome exchanged_read(const ExchangedCall& call, StagedAccess& access);

/// A leader's part; `access` is null where it has no data of its own. Its part of the call is over
/// on this node when it returns. `broken`: its messages failed, and later ones would.
struct LeaderOutcome {
  StagedOutcome own;
  bool broken = false;
};
LeaderOutcome lead_exchanged_write(const LeaderCall& call, StagedAccess* access);
LeaderOutcome lead_exchanged_read(const LeaderCall& call, StagedAccess* access);

}  // namespace headrace::exchange
