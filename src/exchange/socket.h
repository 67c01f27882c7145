#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/held_descriptor.h"
#include "base/result.h"
#include "exchange/network_address.h"

namespace headrace::exchange {

using Clock = std::chrono::steady_clock;

/// A socket's descriptor, closed at the end. All sockets made here are close-on-exec and
/// non-blocking.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor() const { return descriptor_.get(); }
  bool is_intact() const { return descriptor_.is_intact(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }

  /// Ends the connection for the peer even if a forked process holds the descriptor, too.
  void shut_down();

 private:
  HeldDescriptor descriptor_;
};

/// The result of a call that moves bytes without waiting.
struct Moved {
  std::size_t bytes = 0;
  bool is_over = false;  ///< the peer or the network ended the connection
};

/// Receives at most `bytes.size()` bytes; 0 if none have come yet.
Moved receive(const Socket& socket, std::span<std::byte> bytes);

/// Sends a few bytes. False if the kernel cannot take them at once: the peer does not read, or is
/// gone.
bool send_now(const Socket& socket, std::span<const std::byte> bytes);

/// Fills `bytes`, waiting until the deadline. Errors: ETIMEDOUT, and ECONNRESET if the connection
/// ended.
Error receive_all(const Socket& socket, std::span<std::byte> bytes, Clock::time_point deadline);

/// Listens on all addresses of this process, at a port that the kernel chooses.
struct Listener {
  Socket socket;
  std::uint16_t port = 0;
};
Result<Listener> listen_anywhere();

/// Accepts a connection. If the result is empty, errno says why; EAGAIN: there is none. Takes no
/// memory.
Socket accept(const Socket& listener);

/// Begins to connect. The socket becomes writable when that is done; see connect_result().
Result<Socket> begin_connect(const NetworkAddress& address, std::uint16_t port);
/// 0, or the errno with which connecting failed.
int connect_result(const Socket& socket);

/// poll(2), at most until the deadline. Also returns at a signal.
void poll_until(std::span<pollfd> sockets, Clock::time_point deadline);

}  // namespace headrace::exchange
