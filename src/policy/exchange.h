#pragma once

#include <cstdint>
#include <string>

#include "policy/path.h"

namespace headrace::policy {

/// Default size of a collective buffer in bytes: it stays in a CPU's cache.
inline constexpr ByteCount kUsualBuffer = ByteCount{256} << 10;

/// The same if nodes may exchange and stripes are unknown: larger, since a message carries one
/// node's part of one or two buffers.
ByteCount usual_buffer_between(int nodes);

/// What the nodes tell each other at the beginning of a collective call that may be exchanged. The
/// same on all nodes.
struct ExchangeFacts {
  int nodes = 0;        ///< how many nodes have data
  ByteCount bytes = 0;  ///< of all ranks
  ByteCount span = 0;   ///< between the first and the last byte, gaps between nodes left out
  ByteCount reaches =
      0;  ///< the sum over all nodes of the bytes between a node's first byte and its last
  std::int64_t stretches =
      0;  ///< how many stretches each node's pieces form together, summed over all nodes
  ByteCount window = 0;     ///< bytes that a node writes at a time, a multiple of the stripe
  ByteCount large = 0;      ///< a node may as well write stretches of so many bytes itself
  bool has_memory = false;  ///< all nodes have collective buffers
  bool reads = false;
  bool agrees = false;  ///< all ranks called in the same direction
};

enum class ExchangeReason {
  asked_for,
  fine,  ///< nodes' pieces are interleaved, and small
  nothing_to_move,
  no_agreement,
  no_memory,
  one_node,
  apart,
  far_apart,
  large_pieces,
};

struct ExchangeDecision {
  bool is_chosen = false;
  ExchangeReason reason = ExchangeReason::nothing_to_move;
};

/// Within how many windows (of `window` bytes) a node may send its parts of two windows of one
/// owner in one message; 0: each part goes alone, as with windows larger than 1 MiB. The node keeps
/// the first part until it has the second, so all windows up to the second must have collective
/// buffers at once. `slots` is how many buffers each node has, 0 if messages have no room for two
/// parts. `aggregators` own windows in turn.
///
/// Example: with 4 aggregators 8 windows where there are 8 slots or more, 0 where there are 7.
std::int64_t joined_within(ByteCount window, std::int64_t slots, std::int64_t aggregators);

/// Whether the nodes exchange in one call. If not, each node moves its own pieces.
ExchangeDecision decide_exchange(PathHint hint, const ExchangeFacts& facts);

std::string explain(const ExchangeDecision& decision, const ExchangeFacts& facts);

}  // namespace headrace::policy
