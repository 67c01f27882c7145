#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/file_layout.h"
#include "storage/kinds.h"
#include "storage/store.h"
#include "storage/write_turn.h"
#include "unit/two_cores.h"

namespace headrace::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr ByteCount kEnough = WriteTurn::kLeastBytes;

Clock::duration time_to_take(const WriteTurn& turn) {
  const auto begin = Clock::now();
  const WriteTurn::Held held(turn, kEnough);
  return Clock::now() - begin;
}

/// Whether a turn was taken, or done without, at once: who does is now and then kept off its core
/// for longer than others wait, but not each time.
bool takes_at_once(const WriteTurn& turn) {
  for (int i = 0; i < 1'000; ++i) {
    if (time_to_take(turn) < std::chrono::milliseconds(1)) return true;
  }
  return false;
}

TEST(WriteTurnTest, IsGivenUpAtTheEnd) {
  WriteTurnState state{};
  const WriteTurn turn(state, 6);
  {
    const WriteTurn::Held held(turn, kEnough);
    EXPECT_EQ(state.holder, 7U);
  }
  EXPECT_EQ(state.holder, 0U);
  EXPECT_EQ(state.last, 7U);
  EXPECT_EQ(state.waiting, 0U);
}

TEST(WriteTurnTest, SmallWritesTakeNone) {
  WriteTurnState state{};
  const WriteTurn::Held small({state, 0}, kEnough - 1);
  const WriteTurn::Held nobodys({}, kEnough);
  EXPECT_EQ(state.holder, 0U);
  EXPECT_EQ(state.last, 0U);
}

TEST(WriteTurnTest, WhoDoesNotGiveItUpIsOvertaken) {
  WriteTurnState state{};
  const WriteTurn gone(state, 0);
  const WriteTurn::Held stays(gone, kEnough);
  const WriteTurn other(state, 1);
  EXPECT_GE(time_to_take(other), std::chrono::milliseconds(1));
  // Only once.
  EXPECT_EQ(state.holder, 0U);
  EXPECT_EQ(state.waiting, 0U);
  EXPECT_TRUE(takes_at_once(other));
}

TEST(WriteTurnTest, WhoWasOvertakenLeavesTheOthersTurnAlone) {
  WriteTurnState state{};
  const WriteTurn slow(state, 0);
  const WriteTurn fast(state, 1);
  auto late = std::make_unique<WriteTurn::Held>(slow, kEnough);
  const WriteTurn::Held held(fast, kEnough);
  EXPECT_EQ(state.holder, 2U);
  late.reset();
  EXPECT_EQ(state.holder, 2U);
}

TEST(WriteTurnTest, WhoFindsManyWaitingDoesNotWait) {
  WriteTurnState state{};
  const WriteTurn::Held held({state, 0}, kEnough);
  state.waiting = 3;
  const WriteTurn other(state, 1);
  EXPECT_TRUE(takes_at_once(other));
  EXPECT_EQ(state.holder, 1U);
  EXPECT_EQ(state.waiting, 3U);
}

/// Two processes, each writing as often: never both inside, and none by far behind the other.
TEST(WriteTurnTest, ProcessesTakeTurns) {
  struct Shared {
    WriteTurnState state;
    std::atomic<int> stays[2];  ///< odd while the rank has a turn
    std::atomic<int> meetings;
    std::atomic<int> turns[2];
    std::atomic<int> ready;
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *static_cast<Shared*>(memory);
  constexpr int kTurns = 2000;
  const std::vector<int> cores = two_cores();
  const auto work = [&](int rank) {
    if (cores.size() == 2) stay_on(cores[static_cast<std::size_t>(rank)]);
    const WriteTurn turn(shared.state, rank);
    ++shared.ready;
    while (shared.ready < 2) std::this_thread::yield();
    int met = 0;
    for (int i = 0; i < kTurns; ++i) {
      const WriteTurn::Held held(turn, kEnough);
      ++shared.stays[rank];
      // Who is kept off its core during a turn is overtaken, perhaps many times: that counts once.
      const int other = shared.stays[1 - rank];
      if (other % 2 == 1 && other != met) {
        ++shared.meetings;
        met = other;
      }
      for (int busy = 0; busy < 2000; ++busy) asm volatile("");
      ++shared.turns[rank];
      ++shared.stays[rank];
    }
  };
  const pid_t child = fork();
  if (child == 0) {
    work(1);
    _exit(0);
  }
  std::thread(work, 0).join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(shared.turns[0], kTurns);
  EXPECT_EQ(shared.turns[1], kTurns);
  EXPECT_EQ(shared.state.holder, 0U);
  EXPECT_EQ(shared.state.waiting, 0U);
  // Each may be kept off its core for longer than the other waits, now and then.
  EXPECT_LT(shared.meetings, kTurns / 10);
  munmap(memory, sizeof(Shared));
}

TEST(WriteTurnTest, TheStoreWritesInTurn) {
  const int file = memfd_create("test", 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  auto opened = posix_file_system().open(path, {.read = true, .write = true});
  ASSERT_TRUE(opened) << opened.error().message;
  WriteTurnState state{};
  opened.value()->take_turns({state, 4});
  std::vector<std::byte> bytes(kEnough, std::byte{3});
  const iovec segment{bytes.data(), bytes.size()};
  EXPECT_EQ(opened.value()->write(0, {&segment, 1}).bytes, kEnough);
  EXPECT_EQ(state.last, 5U);
  EXPECT_EQ(state.holder, 0U);
  // Whoever has the turn and does not give it up: the write takes place all the same.
  state.holder = 9;
  EXPECT_EQ(opened.value()->write(kEnough, {&segment, 1}).bytes, kEnough);
  EXPECT_FALSE(opened.value()->choices().waited_for_turns) << "nobody gave it up";
  // Now somebody does, unless kept off its core for longer than the other waits.
  for (int i = 0; i < 1'000 && !opened.value()->choices().waited_for_turns; ++i) {
    state.holder = 9;
    std::thread holder([&] {
      while (state.waiting == 0 && state.holder == 9) std::this_thread::yield();
      state.holder = 0;
    });
    EXPECT_EQ(opened.value()->write(kEnough, {&segment, 1}).bytes, kEnough);
    holder.join();
  }
  EXPECT_TRUE(opened.value()->choices().waited_for_turns);
  EXPECT_EQ(opened.value()->size().value(), 2 * kEnough);
  ::close(file);
}

TEST(WriteTurnTest, IsForFileSystemsOfOneNode) {
  for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
    const std::string_view name = kinds()[kind].name;
    EXPECT_EQ(has_one_writer(static_cast<int>(kind)), name == "ext4" || name == "tmpfs") << name;
  }
}

}  // namespace
}  // namespace headrace::storage
