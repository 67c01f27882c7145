#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <string>
#include <thread>

#include "record/access_table.h"
#include "record/decision.h"
#include "record/plain_decisions.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

/// Handlers of signals that jump out of what they have interrupted, for good.
namespace headrace::record {
namespace {

sigjmp_buf target;
volatile std::sig_atomic_t may_jump = 0;
volatile std::sig_atomic_t jumps = 0;

void jump(int) {
  if (may_jump == 0) return;
  may_jump = 0;
  jumps = jumps + 1;
  siglongjmp(target, 1);
}

/// Sends signals to the thread that makes it, one after the other.
class Disturber {
 public:
  Disturber() {
    std::signal(SIGUSR1, &jump);
    thread_ = std::thread([this, to = ::pthread_self()] {
      while (!ends_) {
        ::pthread_kill(to, SIGUSR1);
        begins_ = true;
      }
    });
    while (!begins_) std::this_thread::yield();
  }
  ~Disturber() {
    ends_ = true;
    thread_.join();
    std::signal(SIGUSR1, SIG_DFL);
  }

 private:
  std::atomic<bool> begins_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

/// May come back at any moment without having ended.
template <class Add>
[[gnu::noinline]] void add_one(int i, Add& add) {
  if (sigsetjmp(target, 1) != 0) return;
  may_jump = 1;
  add(i);
  may_jump = 0;
}

template <class Add>
void add_disturbed(int count, Add add) {
  const Disturber disturber;
  for (int i = 0; i < count; ++i) add_one(i, add);
}

class JumpsOutOf : public ::testing::Test {
 protected:
  static constexpr int kRounds = 20;
  static constexpr int kMostRounds = 5000;  ///< where signals hardly ever come in time
  static constexpr int kAdded = 40;

  void SetUp() override { jumps = 0; }
  static bool goes_on(int round) {
    return round < kRounds || (jumps < kRounds && round < kMostRounds);
  }
  /// A new one each time: a table is small.
  MadeImage make(int round) { return {folder_.path, "job", round, kMostRounds}; }
  /// By another thread, as it would have to wait for what the first one left.
  template <class Check>
  void check(const MadeImage& made, Check check) {
    std::thread([&] {
      EXPECT_TRUE(check());
      EXPECT_NE(made.image->try_take(ExtentKind::accesses, 64, 1), nullptr);
    }).join();
  }

  PrivateFolder folder_;
  const std::string long_ = std::string(4000, 'x');
};

TEST_F(JumpsOutOf, DecisionsLeaveNothingBehind) {
  for (int round = 0; goes_on(round); ++round) {
    const MadeImage made = make(round);
    ASSERT_NE(made.image, nullptr);
    PlainDecisions decisions(*made.image);
    std::array<std::string, kAdded> subjects;
    for (int i = 0; i < kAdded; ++i) subjects[static_cast<std::size_t>(i)] = long_ + char(i);
    add_disturbed(kAdded, [&](int i) {
      decisions.count({subjects[static_cast<std::size_t>(i)], "none", "why"}, "others");
    });
    check(made, [&] { return decisions.count({"last", "none", "why"}, "others"); });
  }
  EXPECT_GT(jumps, 0);
}

TEST_F(JumpsOutOf, CountsOfFilesLeaveNothingBehind) {
  for (int round = 0; goes_on(round); ++round) {
    const MadeImage made = make(round);
    ASSERT_NE(made.image, nullptr);
    const auto files = AccessTable::make(*made.image);
    std::array<std::string, kAdded> names;
    for (int i = 0; i < kAdded; ++i) names[static_cast<std::size_t>(i)] = long_ + char(i);
    add_disturbed(kAdded, [&](int i) {
      files->find_or_add(AccessLayer::posix, {names[static_cast<std::size_t>(i)]});
    });
    check(made, [&] { return !files->find_or_add(AccessLayer::posix, {"/last"}).is_group; });
  }
  EXPECT_GT(jumps, 0);
}

}  // namespace
}  // namespace headrace::record
