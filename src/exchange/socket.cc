#include "exchange/socket.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace headrace::exchange {
namespace {

constexpr int kStreamKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

void set_option(const Socket& socket, int level, int name, int value) {
  setsockopt(socket.descriptor(), level, name, &value, sizeof value);
}

/// Makes messages go out at once, and makes the kernel notice within about a minute that a peer's
/// node is gone.
void prepare(const Socket& socket) {
  constexpr int kIdleSeconds = 30;
  constexpr int kProbeSeconds = 10;
  constexpr int kProbes = 3;
  constexpr int kUnansweredMilliseconds = 60'000;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMilliseconds);
}

template <class Address>
bool listens(const Socket& socket, const Address& anywhere) {
  return socket &&
         bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&anywhere), sizeof anywhere) ==
             0 &&
         listen(socket.descriptor(), SOMAXCONN) == 0;
}

}  // namespace

void Socket::shut_down() {
  if (descriptor_ && descriptor_.is_intact()) shutdown(descriptor_.get(), SHUT_RDWR);
}

Moved receive(const Socket& socket, std::span<std::byte> bytes) {
  ssize_t len = 0;
  do {
    len = recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
  } while (len < 0 && errno == EINTR);
  if (len > 0) return {static_cast<std::size_t>(len), false};
  return {0, len == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)};
}

bool send_now(const Socket& socket, std::span<const std::byte> bytes) {
  ssize_t len = 0;
  do {
    len = send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (len < 0 && errno == EINTR);
  return len == std::ssize(bytes);
}

Error receive_all(const Socket& socket, std::span<std::byte> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const Moved moved = receive(socket, bytes);
    if (moved.is_over) return system_failure(ECONNRESET, "cannot receive");
    bytes = bytes.subspan(moved.bytes);
    if (moved.bytes > 0) continue;
    if (Clock::now() >= deadline) return system_failure(ETIMEDOUT, "cannot receive");
    pollfd entry{socket.descriptor(), POLLIN, 0};
    poll_until(std::span(&entry, 1), deadline);
  }
  return {};
}

Result<Listener> listen_anywhere() {
  // An IPv6 socket serves IPv4, too.
  Socket socket(::socket(AF_INET6, kStreamKind, 0));
  if (socket) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_in6 anywhere6{};
  anywhere6.sin6_family = AF_INET6;
  if (!listens(socket, anywhere6)) {
    socket = Socket(::socket(AF_INET, kStreamKind, 0));
    sockaddr_in anywhere4{};
    anywhere4.sin_family = AF_INET;
    if (!listens(socket, anywhere4)) return system_failure(errno, "cannot listen");
  }
  sockaddr_storage bound{};
  socklen_t len = sizeof bound;
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&bound), &len) != 0) {
    return system_failure(errno, "cannot listen");
  }
  const in_port_t port = bound.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                             : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port;
  return Listener{std::move(socket), ntohs(port)};
}

Socket accept(const Socket& listener) {
  Socket socket(accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) prepare(socket);
  return socket;
}

Result<Socket> begin_connect(const NetworkAddress& address, std::uint16_t port) {
  const SocketAddress to = socket_address(address, port);
  Socket socket(::socket(to.storage.ss_family, kStreamKind, 0));
  if (!socket) return system_failure(errno, "cannot connect");
  prepare(socket);
  if (connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&to.storage), to.len) != 0 &&
      errno != EINPROGRESS && errno != EINTR) {
    return system_failure(errno, "cannot connect");
  }
  return socket;
}

int connect_result(const Socket& socket) {
  int failed = 0;
  socklen_t len = sizeof failed;
  return getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &failed, &len) == 0 ? failed : errno;
}

void poll_until(std::span<pollfd> sockets, Clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
  poll(sockets.data(), sockets.size(), timeout);
}

}  // namespace headrace::exchange
