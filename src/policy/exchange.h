#pragma once

#include <cstdint>
#include <string>

#include "policy/path.h"

namespace headrace::policy {

/// Bytes of a collective buffer where nobody asks for a size: it stays in a CPU's cache.
inline constexpr ByteCount kUsualBuffer = ByteCount{256} << 10;

/// The same where nodes may exchange and nothing is known of stripes: larger, since a message
/// has one node's part of a buffer or two.
ByteCount usual_buffer_between(int nodes);

/// What the nodes tell each other when a collective call begins that may go between them; the same
/// on all of them.
struct ExchangeFacts {
  int nodes = 0;               ///< that have data
  ByteCount bytes = 0;         ///< of all ranks
  ByteCount span = 0;          ///< between the first and the last byte, gaps between nodes left out
  ByteCount reaches = 0;       ///< of all nodes: between a node's first byte and its last
  std::int64_t stretches = 0;  ///< that each node's pieces form together, of all nodes
  ByteCount window = 0;        ///< bytes that a node writes at a time, whole stripes
  ByteCount large = 0;         ///< stretches of so many bytes a node may as well write itself
  bool has_memory = false;     ///< all nodes have collective buffers
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

/// Within how many windows of `window` bytes a node's parts of two with the same owner go in one
/// message; 0: each goes by itself, as where windows are larger than 1 MiB. The node keeps the
/// first until it has the second, so all windows up to it must have collective buffers at once;
/// `slots` is what each node has, 0 where messages have no room for two parts. `aggregators` own
/// windows in turn.
///
/// Example: with 4 aggregators 8 windows where there are 8 slots or more, 0 where there are 7.
std::int64_t joined_within(ByteCount window, std::int64_t slots, std::int64_t aggregators);

/// Whether the nodes exchange in one call. Where not, each node moves its own pieces.
ExchangeDecision decide_exchange(PathHint hint, const ExchangeFacts& facts);

std::string explain(const ExchangeDecision& decision, const ExchangeFacts& facts);

}  // namespace headrace::policy
