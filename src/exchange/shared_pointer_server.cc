#include "exchange/shared_pointer_server.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/thread.h"

namespace headrace::exchange {
namespace {

/// The pause after a connection could not be accepted, for lack of descriptors for example.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

SharedPointerServer::SharedPointerServer(SharedPointerRegistry& registry, const Secret& greeting,
                                         const Limits& limits)
    : registry_(registry), greeting_(greeting), limits_(limits) {
  connections_.reserve(limits_.most_connections);
  polled_.reserve(limits_.most_connections + 2);
}

Error SharedPointerServer::start() {
  Result<Listener> listener = listen_anywhere();
  if (!listener) return listener.error();
  wake_ = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_failure(errno, "cannot listen");
  listener_ = std::move(listener.value().socket);
  port_ = listener.value().port;
  is_running_ = start_thread(thread_, &serve, this);
  return is_running_ ? Error{} : system_failure(EAGAIN, "cannot make a thread");
}

SharedPointerServer::~SharedPointerServer() {
  // A forked process may hold the descriptors, too, and live longer.
  listener_.shut_down();
  if (!is_running_) return;
  is_stopping_.store(true);
  // If the program closed it, the thread has ended; see below.
  if (wake_.is_intact()) eventfd_write(wake_.descriptor(), 1);
  pthread_join(thread_, nullptr);
  for (Connection& connection : connections_) connection.socket.shut_down();
}

void* SharedPointerServer::serve(void* self) noexcept {
  static_cast<SharedPointerServer*>(self)->serve_until_stopped();
  return nullptr;
}

void SharedPointerServer::serve_until_stopped() {
  while (true) {
    wait();
    // The program may have closed all descriptors, these included.
    if (is_stopping_.load() || (polled_[0].revents & POLLNVAL) != 0) return;
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const bool has_news = polled_[i + 2].revents != 0;
      if (!(has_news ? receive_question(connections_[i]) : !is_late(connections_[i], now))) {
        connections_[i].socket = Socket();
      }
    }
    std::erase_if(connections_, [](const Connection& c) { return !c.socket; });
    if (polled_[1].revents != 0) accept_all();
  }
}

/// Sleeps until something comes or a connection's time is over.
void SharedPointerServer::wait() {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = Clock::time_point::max();
  polled_.clear();
  polled_.push_back({wake_.descriptor(), POLLIN, 0});
  const Clock::time_point accepts = accepts_from();
  polled_.push_back({accepts <= now ? listener_.descriptor() : -1, POLLIN, 0});
  if (accepts > now) until = accepts;
  for (const Connection& connection : connections_) {
    polled_.push_back({connection.socket.descriptor(), POLLIN, 0});
    if (!connection.is_known || connection.received > 0) {
      until = std::min(until, connection.since + limits_.patience);
    }
  }
  poll_until(polled_, until);
}

/// When the next connection may be accepted. Silent strangers must not keep out the job's ranks,
/// which ask as soon as they are greeted.
Clock::time_point SharedPointerServer::accepts_from() {
  if (!most_are_waiting()) return accept_again_;
  return std::max(accept_again_, longest_waiting()->since + limits_.grace);
}

bool SharedPointerServer::is_late(const Connection& connection, Clock::time_point now) const {
  if (connection.is_known && connection.received == 0) return false;
  return now >= connection.since + limits_.patience;
}

void SharedPointerServer::accept_all() {
  while (accepts_from() <= Clock::now()) {
    if (connections_.size() == limits_.most_connections && !make_room()) return pause_accepting();
    Socket socket = accept(listener_);
    if (!socket) {
      const int failed = errno;
      if (failed == EAGAIN || failed == EWOULDBLOCK) return;
      if (failed == EINTR || failed == ECONNABORTED) continue;
      if (failed == EMFILE || failed == ENFILE) make_room();
      return pause_accepting();
    }
    const Result<Secret> challenge = draw_secret();
    if (!challenge || !send_now(socket, encode(PointerGreeting{greeting_, challenge.value()}))) {
      continue;
    }
    if (most_are_waiting()) close(*longest_waiting());
    connections_.push_back({std::move(socket), challenge.value(), {}, 0, false, Clock::now()});
  }
}

void SharedPointerServer::pause_accepting() {
  accept_again_ = Clock::now() + kAcceptPause;
}

/// Closes the connection that has been idle longest. False if none is idle.
bool SharedPointerServer::make_room() {
  Connection* idlest = nullptr;
  for (Connection& connection : connections_) {
    if (!connection.is_known || connection.received > 0) continue;
    if (idlest == nullptr || connection.since < idlest->since) idlest = &connection;
  }
  if (idlest == nullptr) return false;
  close(*idlest);
  return true;
}

/// Whether as many connections as may have not asked yet.
bool SharedPointerServer::most_are_waiting() const {
  const auto waiting = std::ranges::count(connections_, false, &Connection::is_known);
  return waiting >= static_cast<std::ptrdiff_t>(limits_.most_waiting);
}

/// Null if all connections have asked.
SharedPointerServer::Connection* SharedPointerServer::longest_waiting() {
  Connection* longest = nullptr;
  for (Connection& connection : connections_) {
    if (connection.is_known) continue;
    if (longest == nullptr || connection.since < longest->since) longest = &connection;
  }
  return longest;
}

void SharedPointerServer::close(Connection& connection) {
  std::swap(connection, connections_.back());
  connections_.pop_back();
}

bool SharedPointerServer::receive_question(Connection& connection) {
  const std::span<std::byte> rest = std::span(connection.question).subspan(connection.received);
  const Moved moved = receive(connection.socket, rest);
  if (moved.is_over) return false;
  if (connection.is_known && connection.received == 0) connection.since = Clock::now();
  connection.received += moved.bytes;
  return connection.received < connection.question.size() || reply(connection);
}

bool SharedPointerServer::reply(Connection& connection) try {
  const auto answer = registry_.answer(connection.question, connection.challenge);
  if (!answer) return false;
  connection.is_known = true;
  connection.received = 0;
  connection.since = Clock::now();
  return send_now(connection.socket, *answer);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace headrace::exchange
