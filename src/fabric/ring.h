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

/// Ranks in a circle: each tells the next one and is told by the one before. Who is alone tells
/// itself. All functions are collective over the ranks of the ring, and between two turns in one
/// direction they combine().
class Ring : public Combining {
 public:
  /// Numbers of a message beside its body.
  static constexpr std::size_t kHeadLen = 7;
  /// What a rank says in one turn.
  struct Message {
    std::array<std::int64_t, kHeadLen> head{};
    std::vector<std::byte> body;  ///< kMaxBody bytes at most
  };
  static constexpr std::size_t kMaxBody = std::size_t{32} << 10;

  /// Gives `mine` to the next rank and takes what the one before gives (or the other way round,
  /// where not `onward`). Takes no memory where `theirs` has room for kMaxBody bytes.
  virtual Error turn(bool onward, const Message& mine, Message& theirs) = 0;
  /// How the calling thread waits, from now on.
  virtual void wait_as(const Waiter&) {}
};

/// Of one rank.
std::unique_ptr<Ring> make_lone_ring();

/// Of the node's ranks, by shared memory; from any thread. `boxes` has two times kMaxBody bytes
/// for each of them.
std::unique_ptr<Ring> make_node_ring(Channel& channel, const MemoryRange& boxes);

/// Of all ranks of the channel, by messages; for threads of the program.
std::unique_ptr<Ring> make_message_ring(Channel& channel);

}  // namespace headrace::fabric
