#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "exchange/shared_pointer_registry.h"
#include "exchange/socket.h"

namespace headrace::exchange {

/// Answers questions about the pointers of a registry, in a thread that sleeps while nobody asks.
class SharedPointerServer {
 public:
  struct Limits {
    /// How long a connection may take for its first question, and for the rest of a question.
    std::chrono::milliseconds patience{10'000};
    /// At most so many connections that have not sent a genuine question: they may be strangers'.
    std::size_t most_waiting = 64;
    /// If most_waiting connections wait and another comes, the oldest is closed once it is this
    /// old.
    std::chrono::milliseconds grace{500};
    /// At most so many connections in all. If another one comes, the longest idle one is closed;
    /// its owner connects again.
    std::size_t most_connections = 512;
  };

  SharedPointerServer(SharedPointerRegistry& registry, const Secret& greeting)
      : SharedPointerServer(registry, greeting, Limits{}) {}
  SharedPointerServer(SharedPointerRegistry& registry, const Secret& greeting,
                      const Limits& limits);
  /// Closes all connections and ends the thread.
  ~SharedPointerServer();
  SharedPointerServer(const SharedPointerServer&) = delete;
  SharedPointerServer& operator=(const SharedPointerServer&) = delete;

  /// Listens on all addresses of this process. Call once.
  Error start();
  std::uint16_t port() const { return port_; }

 private:
  struct Connection {
    Socket socket;
    Secret challenge{};
    QuestionBytes question{};
    std::size_t received = 0;
    bool is_known = false;    ///< has sent a genuine question
    Clock::time_point since;  ///< time of the last question, or when the next one began
  };

  static void* serve(void* self) noexcept;
  void serve_until_stopped();
  void wait();
  void accept_all();
  void pause_accepting();
  bool make_room();
  bool most_are_waiting() const;
  Connection* longest_waiting();
  void close(Connection& connection);
  /// False if the connection is to be closed.
  bool receive_question(Connection& connection);
  bool reply(Connection& connection);
  bool is_late(const Connection& connection, Clock::time_point now) const;
  Clock::time_point accepts_from();

  SharedPointerRegistry& registry_;
  Secret greeting_;
  Limits limits_;
  std::uint16_t port_ = 0;
  Socket listener_;
  Socket wake_;
  pthread_t thread_{};
  bool is_running_ = false;
  std::atomic<bool> is_stopping_ = false;

  // Used by the thread only. Their memory is taken before the thread begins.
  std::vector<Connection> connections_;
  std::vector<pollfd> polled_;  ///< wake_, listener_, and connections_ in their order
  Clock::time_point accept_again_;
};

}  // namespace headrace::exchange
