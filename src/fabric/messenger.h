#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"

namespace headrace::fabric {

/// A message on its way, in a buffer of its sender or receiver that must live until it is done or
/// ended, as the message itself must. When it is done, it may be started anew: so messages take no
/// memory while others wait.
class Message {
 public:
  virtual ~Message() = default;
  /// Never waits, and lets the MPI library progress. Once true, it stays true.
  virtual Result<bool> is_done() = 0;
  /// Where it is not done, because another message failed: afterwards nothing uses its buffer.
  /// False where that cannot be had, as of a send that nobody receives; then both must stay for
  /// good. Waits for no rank.
  virtual bool end() = 0;
};

/// A message that has come and that nobody has received yet.
struct Arrival {
  int from = 0;
  std::size_t size = 0;
};

/// Bytes of the largest message that may be started: what an int can count.
inline constexpr std::size_t kLargestMessage = 0x7fffffff;

/// Point-to-point messages between the ranks of one communicator. The abi room implements it with
/// MPI on a hidden communicator, the simulation with mailboxes. Messages between two ranks with one
/// tag arrive in order; different tags are independent, so several threads may use it at once.
class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends to `to` and receives from `from` at the same time; either may be -1 for none. Sizes are
  /// in bytes and must agree between sender and receiver. While it waits it lets the MPI library
  /// progress and gives up the core.
  virtual Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                         std::span<std::byte> incoming) = 0;

  /// A message of this messenger's, to be started.
  virtual std::unique_ptr<Message> make_message() = 0;
  /// Begins to send. Done when the receiver has begun to take the message, not before: so a sender
  /// knows how much of its is still to be received.
  virtual Error start_send(Message& message, int tag, int to,
                           std::span<const std::byte> outgoing) = 0;
  /// The same, but it may be done before: as soon as the memory may be used again.
  virtual Error start_buffered_send(Message& message, int tag, int to,
                                    std::span<const std::byte> outgoing) {
    return start_send(message, tag, to, outgoing);
  }
  /// Begins to receive a message of at most as many bytes.
  virtual Error start_receive(Message& message, int tag, int from,
                              std::span<std::byte> incoming) = 0;
  /// The next message from `from` (-1: from anybody) that can be received; never waits.
  virtual Result<std::optional<Arrival>> find(int tag, int from) = 0;

  /// Lets the library progress the program's own messages. A rank that waits in shared memory calls
  /// this now and then: a peer may be unable to come until a message of ours has gone out.
  virtual void progress() = 0;

  /// Whether any thread may call these functions, at the same time as others. Else only those of
  /// the program may.
  virtual bool serves_any_thread() const = 0;

  /// The largest tag that may be used.
  virtual int largest_tag() const = 0;
};

}  // namespace headrace::fabric
