#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/channel.h"
#include "fabric/node_memory.h"

namespace headrace::fabric {

/// Ranks in a circle: each sends to the next one and receives from the one before; a rank that is
/// alone sends to itself. All functions are collective over the ranks of the ring. Between two
/// turns in one direction the ranks must combine().
class Ring : public Combining {
 public:
  /// Numbers in the head of a message.
  static constexpr std::size_t kHeadLen = 7;
  /// What a rank sends in one turn.
  struct Message {
    std::array<std::int64_t, kHeadLen> head{};
    std::vector<std::byte> body;  ///< kMaxBody bytes at most
  };
  static constexpr std::size_t kMaxBody = std::size_t{32} << 10;

  /// Sends `mine` to the next rank and receives `theirs` from the one before; the other way round
  /// if not `onward`. Takes no memory if `theirs` has capacity for kMaxBody bytes.
  virtual Error turn(bool onward, const Message& mine, Message& theirs) = 0;
  /// Sets how the calling thread waits.
  virtual void wait_as(const Waiter&) {}
};

/// A ring of one rank.
std::unique_ptr<Ring> make_lone_ring();

/// A ring of the node's ranks, over shared memory; for any thread. `boxes` has 2 * kMaxBody bytes
/// for each rank.
std::unique_ptr<Ring> make_node_ring(Channel& channel, const MemoryRange& boxes);

/// A ring of all ranks of the channel, over messages; for threads of the program only.
std::unique_ptr<Ring> make_message_ring(Channel& channel);

}  // namespace headrace::fabric
