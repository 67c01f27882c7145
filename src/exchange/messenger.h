#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace headrace::exchange {

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

  /// Lets the library progress the program's own messages. A rank that waits in shared memory calls
  /// this now and then: a peer may be unable to come until a message of ours has gone out.
  virtual void progress() = 0;

  /// The largest tag that may be used.
  virtual int largest_tag() const = 0;
};

}  // namespace headrace::exchange
