#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"

namespace headrace::fabric {

/// A message that can be sent or received. Its buffer, and the message itself, must live until it
/// is done or ended. When it is done, it may be started anew, so that messages need no memory while
/// others wait.
class Message {
 public:
  virtual ~Message() = default;
  /// Lets the MPI library progress, and does not wait. Once true, stays true.
  virtual Result<bool> is_done() = 0;
  /// Of a receive that is done: the bytes that have come, unless it has failed.
  virtual std::size_t received() const = 0;
  /// Ends a message that is not done because another one failed: afterwards nothing uses its
  /// buffer. False if that is impossible, as with a send that nobody receives; then the message and
  /// its buffer must stay for good. Waits for no rank.
  virtual bool end() = 0;
};

/// A message that has arrived and that nobody has received yet.
struct Arrival {
  int from = 0;
  std::size_t size = 0;
};

/// Elements of a datatype of the MPI library's, which nobody but its messenger knows.
struct TypedData {
  const void* address = nullptr;
  std::int64_t count = 0;
  const void* type = nullptr;  ///< where the datatype's handle lies; null: bytes
};

/// The largest message that may be started, in bytes: the largest int.
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
  /// Begins to send. The message is done when its receiver has begun to take it, not before: so a
  /// sender knows how much others still have to receive.
  virtual Error start_send(Message& message, int tag, int to,
                           std::span<const std::byte> outgoing) = 0;
  /// The same, but it may be done before: as soon as the memory may be used again.
  virtual Error start_buffered_send(Message& message, int tag, int to,
                                    std::span<const std::byte> outgoing) {
    return start_send(message, tag, to, outgoing);
  }
  /// Begins to receive a message of at most incoming.size() bytes.
  virtual Error start_receive(Message& message, int tag, int from,
                              std::span<std::byte> incoming) = 0;
  /// The same as start_buffered_send() and start_receive() for data of the program's, of any size.
  virtual Error start_typed_send(Message& message, int tag, int to, const TypedData& outgoing) {
    if (outgoing.type != nullptr) return unknown_type();
    return start_buffered_send(message, tag, to,
                               {static_cast<const std::byte*>(outgoing.address),
                                static_cast<std::size_t>(outgoing.count)});
  }
  virtual Error start_typed_receive(Message& message, int tag, int from,
                                    const TypedData& incoming) {
    if (incoming.type != nullptr) return unknown_type();
    auto* const address = const_cast<std::byte*>(static_cast<const std::byte*>(incoming.address));
    return start_receive(message, tag, from, {address, static_cast<std::size_t>(incoming.count)});
  }
  /// The next message from `from` (-1: any rank) that can be received, if any. Does not wait.
  virtual Result<std::optional<Arrival>> find(int tag, int from) = 0;

  /// Lets the MPI library progress the program's own messages. A rank that waits in shared memory
  /// calls this now and then: a peer may need a message of this rank before it can come.
  virtual void progress() = 0;

  /// Whether any thread may call these functions, several at a time. If not, only threads of the
  /// program may.
  virtual bool serves_any_thread() const = 0;

  /// The largest tag that may be used.
  virtual int largest_tag() const = 0;

 private:
  static Error unknown_type() { return {ErrorClass::type, 0, "the datatype is not known"}; }
};

}  // namespace headrace::fabric
