#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fabric/board.h"
#include "sim/mailbox.h"
#include "unit/two_cores.h"

namespace headrace::fabric {
namespace {

struct Numbers {
  std::array<std::int64_t, 3> of;
};

class BoardTest : public testing::Test {
 protected:
  explicit BoardTest(int ranks = 5)
      : ranks_(ranks), office_(ranks), posts_(kBoardDepth * static_cast<std::size_t>(ranks)) {}

  template <class Body>
  void on_all_ranks(std::uint64_t start, Body body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] {
        sim::MailboxMessenger messenger(office_, rank);
        Board board(state_, posts_, rank, ranks_, start);
        body(board, Waiter{&messenger, 0}, rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int ranks_;
  sim::PostOffice office_;
  BoardState state_{};
  std::vector<Post> posts_;
};

TEST_F(BoardTest, EveryRoundShowsTheValuesOfThatRound) {
  constexpr std::int64_t kRounds = 400;
  on_all_ranks(0, [&](Board& board, const Waiter& waiter, int rank) {
    std::minstd_rand random(static_cast<unsigned>(rank));
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      ASSERT_EQ(board.post(waiter, Numbers{{round, rank, round * rank}}),
                static_cast<std::uint64_t>(round));
      if (random() % 3 == 0) continue;  // some need not know and run ahead
      board.wait_for_all(waiter);
      for (int other = 0; other < ranks_; ++other) {
        ASSERT_EQ(board.posted_by<Numbers>(other).of[0], round);
        ASSERT_EQ(board.posted_by<Numbers>(other).of[1], other);
        ASSERT_EQ(board.posted_by<Numbers>(other).of[2], round * other);
      }
    }
  });
}

TEST_F(BoardTest, GoesOnWhereItEnded) {
  std::uint64_t start = 0;
  for (int turn = 0; turn < 3; ++turn) {
    on_all_ranks(start, [&](Board& board, const Waiter& waiter, int rank) {
      for (int i = 0; i < 7; ++i) {
        board.post(waiter, Numbers{{turn, rank}});
        board.wait_for_all(waiter);
        for (int other = 0; other < ranks_; ++other)
          ASSERT_EQ(board.posted_by<Numbers>(other).of[0], turn);
      }
    });
    start += 7;
  }
}

TEST_F(BoardTest, ARankMayRunAheadByItsDepthOnly) {
  std::atomic<std::int64_t> posted{0};
  on_all_ranks(0, [&](Board& board, const Waiter& waiter, int rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kBoardDepth + 1; ++i) {
        board.post(waiter, PostedValue{});
        posted.fetch_add(1);
      }
      return;
    }
    if (rank == 1) {
      while (posted < static_cast<std::int64_t>(kBoardDepth)) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_EQ(posted.load(), static_cast<std::int64_t>(kBoardDepth));
    }
    for (std::uint64_t i = 0; i < kBoardDepth + 1; ++i) board.post(waiter, PostedValue{});
  });
  EXPECT_EQ(posted.load(), static_cast<std::int64_t>(kBoardDepth) + 1);
}

/// A lost wake-up would cost a sleep each time: some seconds for all turns together.
TEST(Event, LosesNoWakeUp) {
  constexpr int kTurns = 2'000;
  sim::PostOffice office(2);
  Event event{};
  std::atomic<int> ball{0};
  const auto play = [&](int player) {
    sim::MailboxMessenger messenger(office, player);
    for (int turn = 0; turn < kTurns; ++turn) {
      event.wait(Waiter{&messenger, 0}, [&] { return ball.load() % 2 == player; });
      ball.fetch_add(1);
      event.signal();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(ball.load(), 2 * kTurns);
}

/// Ranks asleep on one core, each until it was woken or the test ends.
class Sleepers {
 public:
  Sleepers(Event& event, int core, int num, Event::Sleeper kind) : event_(event) {
    for (int i = 0; i < num; ++i) threads_.emplace_back([this, core, kind] { run(core, kind); });
    while (asleep_ < num) std::this_thread::yield();
  }
  ~Sleepers() {
    ends_ = true;
    event_.signal();
    for (std::thread& thread : threads_) thread.join();
  }
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;

 private:
  void run(int core, Event::Sleeper kind) {
    stay_on(core);
    asleep_ += 1;
    while (true) {
      const std::uint32_t seen = event_.changes();
      if (ends_) return;
      event_.wait_for_change(seen, 1'000'000'000, kind);
    }
  }

  Event& event_;
  std::atomic<bool> ends_{false};
  std::atomic<int> asleep_{0};
  std::vector<std::thread> threads_;
};

/// Whether one of up to `calls` wakes one that stands by, made from one core, with a pause before
/// each in which all fall asleep again.
bool wakes_standby(Event& event, int core, int calls) {
  bool is_woken = false;
  std::thread caller([&] {
    stay_on(core);
    for (int i = 0; i < calls && !is_woken; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      is_woken = event.signal_standby();
    }
  });
  caller.join();
  return is_woken;
}

TEST(Event, WakesWhoStandsByOnAnotherCore) {
  const std::vector<int> cores = two_cores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  Event event{};
  EXPECT_FALSE(wakes_standby(event, cores[1], 1)) << "nobody sleeps";
  const Sleepers others(event, cores[0], 2, Event::Sleeper::other);
  EXPECT_FALSE(wakes_standby(event, cores[1], 20)) << "who sleeps does not stand by";
  const Sleepers standing_by(event, cores[0], 2, Event::Sleeper::standby);
  // They may be long in falling asleep.
  EXPECT_TRUE(wakes_standby(event, cores[1], 10'000));
  EXPECT_FALSE(wakes_standby(event, cores[0], 20)) << "they sleep on this core";
}

/// Whether a thread of this process sleeps in the kernel (proc(5)).
bool is_asleep(pid_t thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string number;
  std::string name;
  char state = 0;
  status >> number >> name >> state;
  return state == 'S';
}

/// Of two that sleep, one at a time.
TEST(Event, WakesOneWhoStandsBy) {
  const std::vector<int> cores = two_cores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  Event event{};
  std::atomic<int> awake{0};
  std::array<std::atomic<pid_t>, 2> sleeping{};
  const auto sleep_once = [&](std::size_t self) {
    stay_on(cores[0]);
    const std::uint32_t seen = event.changes();
    sleeping[self] = gettid();
    event.wait_for_change(seen, 1'000'000'000'000, Event::Sleeper::standby);
    awake += 1;
  };
  std::thread first(sleep_once, 0);
  std::thread second(sleep_once, 1);
  for (const std::atomic<pid_t>& thread : sleeping) {
    while (thread == 0 || !is_asleep(thread)) std::this_thread::yield();
  }
  EXPECT_TRUE(wakes_standby(event, cores[1], 1));
  while (awake == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(awake, 1);
  event.signal();
  first.join();
  second.join();
}

TEST(Event, LetsMessagesProgressWhileItWaits) {
  class Counting : public sim::MailboxMessenger {
   public:
    using MailboxMessenger::MailboxMessenger;
    void progress() override { ++calls; }
    int calls = 0;
  };
  sim::PostOffice office(1);
  Counting messenger(office, 0);
  Event event{};
  event.wait(Waiter{&messenger, 10}, [&] { return messenger.calls >= 3; });
  EXPECT_EQ(messenger.calls, 3);
}

}  // namespace
}  // namespace headrace::fabric
