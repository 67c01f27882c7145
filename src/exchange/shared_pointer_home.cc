#include "exchange/shared_pointer_home.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "topo/node.h"

namespace headrace::exchange {
namespace {

using std::chrono::milliseconds;

/// The time for one address. Generous, since the home's thread may share its core with others.
constexpr milliseconds kConnectTimeout{10'000};
/// After this time the next address is tried, too.
constexpr milliseconds kNextAddressDelay{300};

/// One address that is being tried.
struct Attempt {
  NetworkAddress address;
  Socket socket;
  Clock::time_point deadline;
  bool is_connected = false;
  GreetingBytes greeting{};
  std::size_t received = 0;
};

class ConnectionAttempts {
 public:
  explicit ConnectionAttempts(const SharedPointerHome& home) : home_(home) {
    const std::string network = topo::network_identity();
    const bool is_one_host = !network.empty() && network == home.network.data();
    addresses_ = order_addresses(home.known_addresses(), own_addresses(), is_one_host);
    next_start_ = Clock::now();
  }

  HomeConnection run() {
    if (addresses_.empty()) return {{}, {}, "it has no network address that leads there"};
    while (!winner_) {
      const bool is_left = started_ < addresses_.size();
      if (attempts_.empty() && !is_left) return {{}, {}, failures_};
      if (is_left && (attempts_.empty() || Clock::now() >= next_start_)) {
        begin(addresses_[started_++]);
      } else {
        wait();
      }
    }
    return {std::move(winner_), challenge_, {}};
  }

 private:
  void begin(const NetworkAddress& address) {
    const Clock::time_point now = Clock::now();
    next_start_ = now + kNextAddressDelay;
    Result<Socket> socket = begin_connect(address, home_.port);
    if (!socket) return note(address, std::strerror(socket.error().system_error));
    attempts_.push_back({address, std::move(socket.value()), now + kConnectTimeout});
  }

  void wait() {
    std::vector<pollfd> polled;
    Clock::time_point until = Clock::time_point::max();
    if (started_ < addresses_.size()) until = next_start_;
    for (const Attempt& attempt : attempts_) {
      const short events = attempt.is_connected ? POLLIN : POLLOUT;
      polled.push_back({attempt.socket.descriptor(), events, 0});
      until = std::min(until, attempt.deadline);
    }
    poll_until(polled, until);
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < attempts_.size() && !winner_; ++i) {
      Attempt& attempt = attempts_[i];
      const auto failure = polled[i].revents != 0 ? go_on(attempt) : std::nullopt;
      if (failure) {
        note(attempt.address, *failure);
        attempt.socket = Socket();
      } else if (!winner_ && now >= attempt.deadline) {
        note(attempt.address, "no answer");
        attempt.socket = Socket();
      }
    }
    std::erase_if(attempts_, [](const Attempt& attempt) { return !attempt.socket; });
  }

  /// Takes the next step of an attempt. Returns what went wrong, if anything.
  std::optional<std::string> go_on(Attempt& attempt) {
    if (!attempt.is_connected) {
      if (const int failed = connect_result(attempt.socket)) return std::strerror(failed);
      attempt.is_connected = true;
      return std::nullopt;
    }
    const Moved moved =
        receive(attempt.socket, std::span(attempt.greeting).subspan(attempt.received));
    if (moved.is_over) return "the connection was closed";
    attempt.received += moved.bytes;
    if (attempt.received < attempt.greeting.size()) return std::nullopt;
    const PointerGreeting greeting = decode_greeting(attempt.greeting);
    if (!is_same(greeting.name, home_.greeting)) return "another program is there";
    challenge_ = greeting.challenge;
    winner_ = std::move(attempt.socket);
    return std::nullopt;
  }

  void note(const NetworkAddress& address, const std::string& failure) {
    if (!failures_.empty()) failures_ += "; ";
    failures_ += to_text(address) + ": " + failure;
  }

  const SharedPointerHome& home_;
  std::vector<NetworkAddress> addresses_;
  std::size_t started_ = 0;
  Clock::time_point next_start_;
  std::vector<Attempt> attempts_;
  std::string failures_;
  Socket winner_;
  Secret challenge_{};
};

}  // namespace

void describe_own_network(SharedPointerHome& home) {
  const std::string network = topo::network_identity();
  if (network.size() < home.network.size()) std::ranges::copy(network, home.network.begin());
  const std::vector<NetworkAddress> own = own_addresses();
  const std::size_t count = std::min(own.size(), home.addresses.size());
  std::copy_n(own.begin(), count, home.addresses.begin());
  home.address_count = static_cast<std::int32_t>(count);
}

HomeConnection connect_to_home(const SharedPointerHome& home) {
  if (home.port == 0 && home.system_error == 0) {
    return {{}, {}, "HEADRACE_LISTEN is 0 there, so it does not listen"};
  }
  if (home.port == 0) {
    return {{}, {}, std::string("it does not listen: ") + std::strerror(home.system_error)};
  }
  return ConnectionAttempts(home).run();
}

}  // namespace headrace::exchange
