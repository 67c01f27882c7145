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
using record::RequestCounts;
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
    store = std::make_unique<RecordedStore>(std::move(made), counts);
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
  EXPECT_EQ(counts.reading, 0) << "it wrote";
}

TEST_F(RecordedStoreTest, PartsOfAPhaseAreInIt) {
  {
    const CallTimer timer(&counts, true);
    store->read(0, segments);
    store->write(0, segments);
    const InPhase exchanges(Phase::exchange);
    const InPhase meets(Phase::meet);
    const InPhase sends(Phase::send);
  }
  EXPECT_GT(counts.reading, 0);
  EXPECT_LT(counts.reading, counts.store);
  EXPECT_GE(counts.meet, 0);
  EXPECT_GE(counts.send, 0);
  EXPECT_GT(counts.exchange, 0);
  EXPECT_LE(counts.meet + counts.send, counts.exchange);
}

TEST_F(RecordedStoreTest, OpeningAndClosingHaveTimesOfTheirOwn) {
  {
    const CallTimer timer(&counts, &FileCounts::open);
    store->read(0, segments);
  }
  EXPECT_GT(counts.open, 0);
  EXPECT_EQ(counts.open, counts.ticks);
  EXPECT_EQ(counts.close, 0);
  EXPECT_EQ(counts.store, 0);
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

/// Moves all that it is asked for, by one system call and so many more.
class RepeatingStore : public BareStore {
 public:
  explicit RepeatingStore(int& repeats) : repeats_(repeats) {}
  Transferred read(FileOffset, std::span<const iovec> segments) override {
    return {storage::bytes_of(segments), 0, repeats_};
  }
  Transferred write(FileOffset, std::span<const iovec> segments) override {
    return {storage::bytes_of(segments), 0, repeats_};
  }

 private:
  int& repeats_;
};

class RequestsOfAStore : public testing::Test {
 protected:
  void move(Direction direction, FileOffset offset, ByteCount bytes) {
    iovec segment{nullptr, static_cast<std::size_t>(bytes)};
    if (direction == Direction::write) {
      store_.write(offset, {&segment, 1});
    } else {
      store_.read(offset, {&segment, 1});
    }
  }

  int repeats_ = 0;
  FileCounts counts_{};
  RecordedStore store_{std::make_unique<RepeatingStore>(repeats_), counts_};
};

TEST_F(RequestsOfAStore, AreJudgedByTheUnit) {
  move(Direction::write, 10, 10);  // the unit is not known yet
  counts_.unit = 4096;
  move(Direction::write, 0, 8192);
  move(Direction::write, 4096, 100);
  move(Direction::write, 8192, 4096);
  move(Direction::read, 1, 8191);
  move(Direction::read, 4095, 4096);
  move(Direction::read, 5, 0);  // nothing came
  const RequestCounts& writes = counts_.write_requests;
  EXPECT_EQ(writes.requests, 4);
  EXPECT_EQ(writes.whole, 1);
  EXPECT_EQ(writes.small, 1);
  EXPECT_EQ(writes.unaligned, 1);
  const RequestCounts& reads = counts_.read_requests;
  EXPECT_EQ(reads.requests, 3);
  EXPECT_EQ(reads.whole, 1);
  EXPECT_EQ(reads.small, 0);
  EXPECT_EQ(reads.unaligned, 2);
  EXPECT_EQ(reads.collective + writes.collective, 0);
}

TEST_F(RequestsOfAStore, AreOfCollectiveCallsWithinThese) {
  move(Direction::write, 0, 10);
  {
    const CallTimer timer(&counts_, true);
    move(Direction::write, 0, 10);
    record::running_timer->note_gap(7);
    record::running_timer->note_gap(5);
  }
  {
    const CallTimer timer(&counts_, false);
    move(Direction::read, 0, 10);
  }
  EXPECT_EQ(counts_.write_requests.requests, 2);
  EXPECT_EQ(counts_.write_requests.collective, 1);
  EXPECT_EQ(counts_.read_requests.collective, 0);
  EXPECT_EQ(counts_.gaps, 2);
  EXPECT_EQ(counts_.gap_bytes, 12);
}

TEST_F(RequestsOfAStore, TellRepeats) {
  repeats_ = 3;
  move(Direction::read, 0, 10);
  repeats_ = 0;
  move(Direction::read, 0, 10);
  EXPECT_EQ(counts_.read_requests.repeated, 3);
  EXPECT_EQ(counts_.write_requests.repeated, 0);
}

}  // namespace
}  // namespace headrace::file
