#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <memory>

#include "file/recorded_store.h"
#include "record/call_timer.h"
#include "record/clock.h"
#include "unit/bare_store.h"

namespace headrace::file {
namespace {

using record::CallTimer;
using record::FileCounts;
using record::InPhase;
using record::Phase;
using storage::Transferred;

/// Takes a millisecond for each call, and moves half of what it is asked for once.
class SlowStore : public BareStore {
 public:
  explicit SlowStore(ByteCount& moved) : moved_(moved) {}
  Transferred read(FileOffset, std::span<const iovec> segments) override { return move(segments); }
  Transferred write(FileOffset, std::span<const iovec> segments) override { return move(segments); }
  Result<std::unique_ptr<Store>> reopen_to_read() override {
    return std::unique_ptr<Store>(std::make_unique<SlowStore>(moved_));
  }
  bool fails = false;

 private:
  Transferred move(std::span<const iovec> segments) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    ByteCount bytes = storage::bytes_of(segments);
    if (fails) bytes /= 2;
    moved_ += bytes;
    return {bytes, fails ? ENOSPC : 0};
  }

  ByteCount& moved_;
};

class RecordedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    record::choose_clock();
    auto made = std::make_unique<SlowStore>(moved);
    slow = made.get();
    store = std::make_unique<RecordedStore>(std::move(made), counts, nullptr);
  }

  std::array<char, 64> memory{};
  std::array<iovec, 2> segments{iovec{memory.data(), 40}, iovec{memory.data() + 40, 20}};
  ByteCount moved = 0;
  FileCounts counts{};
  SlowStore* slow = nullptr;
  std::unique_ptr<storage::Store> store;
};

TEST_F(RecordedStoreTest, CountsTheBytesThatWereMoved) {
  store->write(0, segments);
  slow->fails = true;
  EXPECT_EQ(store->write(0, segments).bytes, 30);
  store->read(0, std::span(segments).first(1));
  store->reopen_to_read().value()->read(0, segments);
  EXPECT_EQ(counts.store_written, 60 + 30);
  EXPECT_EQ(counts.store_read, 20 + 60);
  EXPECT_EQ(counts.store_written + counts.store_read, moved);
  EXPECT_EQ(counts.store, 0) << "no collective call goes on";
}

TEST_F(RecordedStoreTest, PhasesAreNoMoreThanTheCall) {
  {
    const CallTimer timer(&counts, true);
    const InPhase waits(Phase::wait);
    {
      const InPhase copies(Phase::copy);
      store->write(0, segments);
    }
    EXPECT_FALSE(store->lock(0, 1, storage::LockMode::exclusive));
    EXPECT_GT(timer.elapsed(), 0);
  }
  EXPECT_GT(counts.store, 0);
  EXPECT_GT(counts.store, counts.copy) << "what is inside another phase is not that one's, too";
  EXPECT_GE(counts.wait, 0);
  EXPECT_EQ(counts.exchange, 0);
  EXPECT_LE(counts.exchange + counts.wait + counts.copy + counts.store, counts.ticks);
}

TEST_F(RecordedStoreTest, IndependentCallsHaveNoPhases) {
  {
    const CallTimer collective(&counts, true);
    FileCounts other{};
    {
      const CallTimer independent(&other, false);
      store->write(0, segments);
    }
    EXPECT_GT(other.ticks, 0);
    EXPECT_EQ(other.store, 0);
    store->write(0, segments);
  }
  EXPECT_GT(counts.store, 0) << "the outer call goes on when the inner one ends";
  EXPECT_LE(counts.store, counts.ticks);
}

TEST_F(RecordedStoreTest, WithoutCountsNothingIsTimed) {
  const CallTimer timer(nullptr, true);
  EXPECT_EQ(record::running_timer, nullptr);
  store->write(0, segments);
  EXPECT_EQ(timer.elapsed(), 0);
  EXPECT_EQ(counts.store, 0);
}

}  // namespace
}  // namespace headrace::file
