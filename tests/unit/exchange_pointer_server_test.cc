#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <limits>
#include <map>
#include <thread>

#include "exchange/shared_pointer_client.h"
#include "exchange/shared_pointer_server.h"
#include "exchange/shared_pointer_service.h"

// The thread that answers for shared pointers, and those who ask it, over real sockets.

namespace headrace::exchange {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NetworkAddress kLoopback{{127, 0, 0, 1}, 4, 8};

Clock::time_point soon() {
  return Clock::now() + seconds(300);
}

/// A server with one team, whose channel 1 has a pointer.
class PointerServerTest : public testing::Test {
 protected:
  void start(const SharedPointerServer::Limits& limits) {
    home_.greeting = draw_secret().value();
    home_.secret = draw_secret().value();
    describe_own_network(home_);
    registry_.add_team(home_.secret, 64);
    registry_.add_channel(home_.secret, 1, pointer_);
    server_ = std::make_unique<SharedPointerServer>(registry_, home_.greeting, limits);
    const Error failed = server_->start();
    ASSERT_FALSE(failed) << failed.message;
    home_.port = server_->port();
  }

  /// A connection that has been greeted.
  Socket connect() {
    Socket socket = std::move(begin_connect(kLoopback, server_->port()).value());
    GreetingBytes bytes;
    EXPECT_FALSE(receive_all(socket, bytes, soon()));
    const PointerGreeting greeting = decode_greeting(bytes);
    EXPECT_EQ(greeting.name, home_.greeting);
    challenges_[socket.descriptor()] = greeting.challenge;
    return socket;
  }

  PointerQuestion question() const { return {1, 4, 1, 1, 0}; }
  QuestionBytes encoded(const PointerQuestion& asked, const Socket& socket) {
    return encode(asked, home_.secret, challenges_[socket.descriptor()]);
  }

  std::vector<std::byte> begin_of_question(int len) const {
    const QuestionBytes bytes = encode(question(), home_.secret, {});
    return {bytes.begin(), bytes.begin() + len};
  }

  bool is_answered(const Socket& socket) {
    AnswerBytes bytes;
    return !receive_all(socket, bytes, soon()) &&
           is_genuine(bytes, home_.secret, challenges_[socket.descriptor()]);
  }
  static bool is_closed(const Socket& socket) {
    std::byte byte{};
    return receive_all(socket, std::span(&byte, 1), soon()).system_error == ECONNRESET;
  }
  static bool is_closed_after_greeting(const Socket& socket) {
    GreetingBytes greeting;
    return !receive_all(socket, greeting, soon()) && is_closed(socket);
  }

  SharedPointer pointer_{};
  SharedPointerRegistry registry_;
  SharedPointerHome home_;
  std::map<int, Secret> challenges_;  ///< by descriptor
  std::unique_ptr<SharedPointerServer> server_;
};

TEST_F(PointerServerTest, ClosesAConnectionWithAWrongSecret) {
  start({});
  const Socket socket = connect();
  QuestionBytes wrong = encoded(question(), socket);
  wrong[15] ^= std::byte{1};
  EXPECT_TRUE(send_now(socket, wrong));
  EXPECT_TRUE(is_closed(socket));
  EXPECT_EQ(pointer_.cells[0].load(), 0);
}

/// What a stranger has overheard moves nothing in a connection of his own.
TEST_F(PointerServerTest, ClosesAConnectionThatRepeatsAnothersQuestion) {
  start({});
  const Socket own = connect();
  const QuestionBytes overheard = encoded(question(), own);
  EXPECT_TRUE(send_now(own, overheard));
  EXPECT_TRUE(is_answered(own));
  const Socket stranger = connect();
  EXPECT_TRUE(send_now(stranger, overheard));
  EXPECT_TRUE(is_closed(stranger));
  EXPECT_EQ(pointer_.cells[0].load(), 4);
}

/// A program at the home's port that knows how it greets is not believed.
TEST_F(PointerServerTest, IsNotBelievedWithoutTheSecret) {
  start({});
  SharedPointerHome other = home_;
  other.secret = draw_secret().value();
  registry_.remove_team(home_.secret);
  SharedPointerClient client(other, 1);
  EXPECT_FALSE(client.advance(1, 0, 3));
}

TEST_F(PointerServerTest, TakesAQuestionInPieces) {
  start({});
  const Socket socket = connect();
  for (const std::byte& byte : encoded(question(), socket)) {
    EXPECT_TRUE(send_now(socket, std::span(&byte, 1)));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(is_answered(socket));
  EXPECT_EQ(pointer_.cells[0].load(), 4);
}

TEST_F(PointerServerTest, ClosesConnectionsThatSayHalfOrNothing) {
  start({.patience = seconds(2)});
  const Socket silent = connect();
  const Socket half = connect();
  EXPECT_TRUE(send_now(half, begin_of_question(20)));
  const Socket half_of_the_second = connect();
  EXPECT_TRUE(send_now(half_of_the_second, encoded(question(), half_of_the_second)));
  EXPECT_TRUE(is_answered(half_of_the_second));
  const Socket idle = connect();
  PointerQuestion other = question();
  other.rank = 2;
  EXPECT_TRUE(send_now(idle, encoded(other, idle)));
  EXPECT_TRUE(is_answered(idle));
  EXPECT_TRUE(send_now(half_of_the_second, begin_of_question(1)));
  EXPECT_TRUE(is_closed(silent));
  EXPECT_TRUE(is_closed(half));
  EXPECT_TRUE(is_closed(half_of_the_second));
  // A connection that has asked may be silent for as long as it likes.
  other.sequence = 2;
  EXPECT_TRUE(send_now(idle, encoded(other, idle)));
  EXPECT_TRUE(is_answered(idle));
}

/// Strangers cannot use up the descriptors of the process, nor keep its own ranks out for long.
TEST_F(PointerServerTest, ServesWhileStrangersHoldConnections) {
  start({.patience = milliseconds(300), .most_waiting = 3, .most_connections = 5});
  std::vector<Socket> strangers;
  for (int i = 0; i < 12; ++i) {
    strangers.push_back(std::move(begin_connect(kLoopback, server_->port()).value()));
  }
  SharedPointerClient client(home_, 1);
  EXPECT_EQ(client.advance(1, 0, 3).value(), 0);
  EXPECT_EQ(client.advance(1, 0, 3).value(), 3);
}

/// However patient it is with one that is slow.
TEST_F(PointerServerTest, ClosesSilentStrangersWhereOthersCome) {
  start({.patience = seconds(600), .most_waiting = 3, .grace = milliseconds(50)});
  std::vector<Socket> strangers;
  for (int i = 0; i < 8; ++i) {
    strangers.push_back(std::move(begin_connect(kLoopback, server_->port()).value()));
  }
  SharedPointerClient client(home_, 1);
  EXPECT_EQ(client.advance(1, 0, 3).value(), 0);
  EXPECT_TRUE(is_closed_after_greeting(strangers.front()));
  // Nobody else comes, so that this one may take its time.
  const Socket slow = connect();
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(send_now(slow, encoded(question(), slow)));
  EXPECT_TRUE(is_answered(slow));
}

/// More askers than connections: who is closed connects again, and nothing is counted twice.
TEST_F(PointerServerTest, CountsForManyClientsOnceEach) {
  start({.most_waiting = 2, .most_connections = 4});
  constexpr int kClients = 12;
  constexpr int kThreads = 2;
  constexpr int kQuestions = 40;
  std::vector<std::unique_ptr<SharedPointerClient>> clients;
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> sum = 0;
  for (int rank = 1; rank <= kClients; ++rank) {
    clients.push_back(std::make_unique<SharedPointerClient>(home_, rank));
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&sum, &client = *clients.back()] {
        for (int i = 0; i < kQuestions; ++i) {
          const Result<std::int64_t> position = client.advance(1, 0, 1);
          ASSERT_TRUE(position) << position.error().message;
          sum += position.value();
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  constexpr std::int64_t kAll = std::int64_t{kClients} * kThreads * kQuestions;
  EXPECT_EQ(pointer_.cells[0].load(), kAll);
  EXPECT_EQ(sum.load(), kAll * (kAll - 1) / 2);
}

TEST_F(PointerServerTest, TellsWhatCannotBe) {
  start({});
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  SharedPointerClient client(home_, 1);
  EXPECT_EQ(client.advance(1, 1, kHuge).value(), 0);
  EXPECT_EQ(client.advance(1, 1, 1).value(), kPointerTooFar);
  EXPECT_EQ(client.advance(1, 1, 0).value(), kHuge);
  EXPECT_EQ(client.advance(2, 0, 1).value(), kPointerGone);
}

TEST_F(PointerServerTest, IsMissedOnceItHasGone) {
  start({});
  SharedPointerClient client(home_, 1);
  EXPECT_EQ(client.advance(1, 0, 3).value(), 0);
  server_.reset();
  for (int i = 0; i < 2; ++i) {
    const Result<std::int64_t> lost = client.advance(1, 0, 3);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().error_class, ErrorClass::io);
    EXPECT_NE(lost.error().message.find("Connection refused"), std::string::npos)
        << lost.error().message;
  }
  EXPECT_EQ(pointer_.cells[0].load(), 3);
  // A new one, where the team is not known any more.
  SharedPointerClient late(home_, 2);
  const Result<std::int64_t> unreachable = late.advance(1, 0, 3);
  ASSERT_FALSE(unreachable);
  EXPECT_EQ(unreachable.error().error_class, ErrorClass::unsupported_operation);
}

/// Where the port belongs to another program now, that one is not told the secret.
TEST_F(PointerServerTest, IsNotTakenForAnotherProgram) {
  start({});
  SharedPointerHome other = home_;
  other.greeting[0] ^= std::byte{1};
  SharedPointerClient client(other, 1);
  const Result<std::int64_t> unreachable = client.advance(1, 0, 3);
  ASSERT_FALSE(unreachable);
  EXPECT_NE(unreachable.error().message.find("127.0.0.1: another program is there"),
            std::string::npos)
      << unreachable.error().message;
}

TEST_F(PointerServerTest, SleepsWhileNobodyAsks) {
  start({});
  SharedPointerClient client(home_, 1);
  EXPECT_EQ(client.advance(1, 0, 3).value(), 0);
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  };
  const long before = used();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(used() - before, 10);
}

TEST(PointerClient, SaysWhyTheHomeIsOutOfReach) {
  const auto failure = [](const SharedPointerHome& home) {
    SharedPointerClient client(home, 1);
    const Result<std::int64_t> position = client.advance(1, 0, 1);
    EXPECT_FALSE(position);
    EXPECT_EQ(position.error().error_class, ErrorClass::unsupported_operation);
    return position.error().message;
  };
  SharedPointerHome home;
  home.system_error = EMFILE;
  EXPECT_NE(failure(home).find("(it does not listen: Too many open files)"), std::string::npos);
  home.port = 1;
  EXPECT_NE(failure(home).find("no network address"), std::string::npos);
  // Nobody is there, or the address leads nowhere (RFC 5737 keeps it for documentation).
  home.addresses[0] = {{192, 0, 2, 1}, 4, 24};
  home.address_count = 1;
  EXPECT_NE(failure(home).find("192.0.2.1: "), std::string::npos);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(PointerService, ServesTeamsUntilTheLastOneEnds) {
  const std::size_t before = open_descriptors();
  SharedPointerService& service = SharedPointerService::of_process();
  SharedPointer pointer{};
  {
    auto first = std::make_unique<SharedPointerService::Host>(service, 8);
    const SharedPointerService::Host second(service, 8);
    EXPECT_EQ(first->home().port, second.home().port);
    EXPECT_FALSE(is_same(first->home().secret, second.home().secret));
    first->add_channel(1, pointer);
    SharedPointerClient client(first->home(), 1);
    EXPECT_EQ(client.advance(1, 0, 2).value(), 0);
    SharedPointerClient stranger(second.home(), 1);
    EXPECT_EQ(stranger.advance(1, 0, 2).value(), kPointerGone);
    first.reset();
    EXPECT_EQ(stranger.advance(1, 0, 2).value(), kPointerGone);
    EXPECT_FALSE(client.advance(1, 0, 2));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(PointerService, SaysWhyNobodyListens) {
  SharedPointerHome home;
  EXPECT_NE(connect_to_home(home).failure.find("HEADRACE_LISTEN"), std::string::npos);
  home.system_error = ENOMEM;
  EXPECT_NE(connect_to_home(home).failure.find("memory"), std::string::npos);
}

/// A forked process has no part in it, and can have teams of its own.
TEST(PointerService, IsLeftAloneByAForkedProcess) {
  SharedPointer pointer{};
  auto host = std::make_unique<SharedPointerService::Host>(SharedPointerService::of_process(), 8);
  host->add_channel(1, pointer);
  SharedPointerClient client(host->home(), 1);
  EXPECT_EQ(client.advance(1, 0, 2).value(), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    const bool is_refused = !client.advance(1, 0, 2);
    host.reset();
    SharedPointer own{};
    SharedPointerService::Host other(SharedPointerService::of_process(), 8);
    other.add_channel(1, own);
    SharedPointerClient asks(other.home(), 1);
    const auto position = asks.advance(1, 0, 2);
    _exit(is_refused && position && position.value() == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(client.advance(1, 0, 2).value(), 2);
}

/// A process that is killed is missed at once.
TEST(PointerService, IsMissedWhenItsProcessIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    SharedPointer pointer{};
    SharedPointerService::Host host(SharedPointerService::of_process(), 8);
    host.add_channel(1, pointer);
    if (write(ends[1], &host.home(), sizeof host.home()) < 0) _exit(1);
    while (true) pause();
  }
  SharedPointerHome home;
  ASSERT_EQ(read(ends[0], &home, sizeof home), std::ssize(std::as_bytes(std::span(&home, 1))));
  close(ends[0]);
  close(ends[1]);
  SharedPointerClient client(home, 1);
  EXPECT_EQ(client.advance(1, 0, 5).value(), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const Clock::time_point begin = Clock::now();
  const Result<std::int64_t> lost = client.advance(1, 0, 5);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().error_class, ErrorClass::io);
  EXPECT_LT(Clock::now() - begin, seconds(60)) << "half of what it waits for an answer";
}

}  // namespace
}  // namespace headrace::exchange
