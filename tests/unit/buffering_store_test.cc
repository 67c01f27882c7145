#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "base/rounding.h"
#include "buffering/buffered_store.h"
#include "unit/memory_store.h"

namespace headrace::buffering {
namespace {

using storage::Transferred;
using Bytes = std::vector<std::uint8_t>;

constexpr BufferShape kSmall{.size = 4096, .count = 3, .prefetch = 1};

class Buffered {
 public:
  explicit Buffered(const BufferShape& shape = kSmall)
      : store(std::make_unique<BufferedStore>(std::make_unique<MemoryStore>(file), shape, "f")) {}

  Transferred write(FileOffset offset, ByteCount bytes, std::uint8_t value) {
    Bytes data(static_cast<std::size_t>(bytes), value);
    const iovec segment{data.data(), data.size()};
    return store->write(offset, {&segment, 1});
  }
  Bytes read(FileOffset offset, ByteCount bytes, int* system_error = nullptr) {
    Bytes data(static_cast<std::size_t>(bytes), 0xCC);
    const iovec segment{data.data(), data.size()};
    const Transferred done = store->read(offset, {&segment, 1});
    if (system_error != nullptr) *system_error = done.system_error;
    data.resize(static_cast<std::size_t>(done.bytes));
    return data;
  }
  std::int64_t writes() {
    const std::lock_guard lock(file->mutex);
    return file->writes;
  }

  std::shared_ptr<MemoryFile> file = std::make_shared<MemoryFile>();
  std::unique_ptr<BufferedStore> store;
};

TEST(BufferedStore, WritesSmallCallsAsBlocks) {
  Buffered buffered;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(buffered.write(i * 100, 100, static_cast<std::uint8_t>(i)).bytes, 100);
  }
  ASSERT_FALSE(buffered.store->close());
  EXPECT_EQ(buffered.file->writes, divide_up(100'000, 4096));
  ASSERT_EQ(buffered.file->content.size(), 100'000U);
  for (std::size_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(buffered.file->content[i], static_cast<std::uint8_t>(i / 100)) << i;
  }
  EXPECT_EQ(buffered.store->counts().writes, 1000);
}

TEST(BufferedStore, TouchesNoByteBetween) {
  Buffered buffered;
  buffered.file->content.assign(20'000, 0xEE);
  for (FileOffset at = 0; at < 20'000; at += 50) ASSERT_EQ(buffered.write(at, 10, 1).bytes, 10);
  // Others write between, and nobody reads these bytes here.
  for (std::size_t at = 20; at < 20'000; at += 50) buffered.file->content[at] = 2;
  ASSERT_FALSE(buffered.store->settle());
  for (std::size_t at = 0; at < 20'000; ++at) {
    ASSERT_EQ(buffered.file->content[at], at % 50 < 10 ? 1 : at % 50 == 20 ? 2 : 0xEE) << at;
  }
}

TEST(BufferedStore, ReadsAheadOfASequentialReader) {
  Buffered buffered;
  for (int i = 0; i < 100'000; ++i)
    buffered.file->content.push_back(static_cast<std::uint8_t>(i % 251));
  for (FileOffset at = 0; at < 100'000; at += 100) {
    const Bytes got = buffered.read(at, 100);
    ASSERT_EQ(got.size(), 100U) << at;
    ASSERT_TRUE(std::equal(got.begin(), got.end(), buffered.file->content.begin() + at)) << at;
  }
  EXPECT_TRUE(buffered.read(100'000, 100).empty());
  ASSERT_FALSE(buffered.store->close());
  EXPECT_LE(buffered.file->reads, 3 * divide_up(100'000, 4096));
}

TEST(BufferedStore, UsesWhatItHasReadAhead) {
  Buffered buffered;
  buffered.file->content.assign(8192, 1);
  for (FileOffset at = 0; at < 4000; at += 100) ASSERT_EQ(buffered.read(at, 100), Bytes(100, 1));
  while (buffered.store->counts().ahead == 0) std::this_thread::yield();
  buffered.file->content.assign(8192, 2);
  EXPECT_EQ(buffered.read(4000, 200).back(), 1) << "of the block that was read before";
  EXPECT_EQ(buffered.store->counts().ahead_used, 1);
}

TEST(BufferedStore, AsksLittleAtTheEndOfAFile) {
  Buffered buffered;
  buffered.file->content.assign(8192, 1);
  for (FileOffset at = 0; at < 8192; at += 32) ASSERT_EQ(buffered.read(at, 32), Bytes(32, 1));
  ASSERT_FALSE(buffered.store->close());
  EXPECT_LE(buffered.file->reads, 6);
}

TEST(BufferedStore, HandsOtherReadsOnAsTheyAre) {
  Buffered buffered;
  buffered.file->content.assign(4000, 1);
  Bytes data(3000);
  std::vector<iovec> segments;
  for (std::size_t i = 0; i < 200; ++i) segments.push_back({data.data() + 15 * i, 15});
  EXPECT_EQ(buffered.store->read(500, segments).bytes, 3000);
  EXPECT_EQ(data, Bytes(3000, 1));
  EXPECT_EQ(buffered.file->reads, 1);
}

TEST(BufferedStore, ReadsWhatIsGoodWhateverCannotBeWritten) {
  Buffered buffered;
  buffered.file->content.assign(50'000, 1);
  buffered.file->space = 50'000;
  ASSERT_EQ(buffered.write(60'000, 100, 2).bytes, 100);
  for (FileOffset at = 0; at < 10'000; at += 100) ASSERT_EQ(buffered.read(at, 100), Bytes(100, 1));
  EXPECT_EQ(buffered.read(20'000, 5000), Bytes(5000, 1));
  EXPECT_TRUE(buffered.store->close());
}

TEST(BufferedStore, TakesFewThreads) {
  Buffered buffered({.size = 4096, .count = 64, .prefetch = 63});
  buffered.file->content.assign(1 << 20, 1);
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  for (FileOffset at = 0; at < 500'000; at += 100) {
    ASSERT_EQ(buffered.read(at, 100).size(), 100U);
    ASSERT_EQ(buffered.write(at, 50, 2).bytes, 50);
  }
  EXPECT_LE(threads(), before + 8);
}

TEST(BufferedStore, ReadsWhatOthersWroteAfterSettling) {
  Buffered buffered;
  buffered.file->content.assign(8192, 1);
  for (FileOffset at = 0; at < 4000; at += 100) EXPECT_EQ(buffered.read(at, 100), Bytes(100, 1));
  {
    const std::lock_guard lock(buffered.file->mutex);
    buffered.file->content.assign(8192, 2);
  }
  ASSERT_FALSE(buffered.store->settle());
  for (FileOffset at = 0; at < 4000; at += 100) ASSERT_EQ(buffered.read(at, 100), Bytes(100, 2));
}

TEST(BufferedStore, FindsTheEndWithWhatItHoldsBack) {
  Buffered buffered;
  ASSERT_EQ(buffered.write(10'000, 10, 7).bytes, 10);
  EXPECT_EQ(buffered.read(9'995, 20), (Bytes{0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}));
  ASSERT_EQ(buffered.write(30'000, 10, 8).bytes, 10);
  EXPECT_EQ(buffered.read(20'000, 10), Bytes(10, 0)) << "a hole before bytes that are held back";
  EXPECT_EQ(buffered.store->size().value(), 30'010);
}

TEST(BufferedStore, ReportsALostWriteAtALaterCall) {
  Buffered buffered;
  buffered.file->space = 6000;
  bool has_failed = false;
  for (FileOffset at = 0; at < 60'000 && !has_failed; at += 100) {
    has_failed = buffered.write(at, 100, 1).system_error == ENOSPC;
  }
  EXPECT_TRUE(has_failed);
  // What could not be written is kept, and written when there is space.
  buffered.file->space = -1;
  // A helper may have failed with another block meanwhile: that is told once.
  if (buffered.store->sync()) {
    EXPECT_FALSE(buffered.store->sync());
  }
  EXPECT_EQ(std::ranges::count(buffered.file->content, 1),
            static_cast<std::ptrdiff_t>(buffered.file->content.size()));
  EXPECT_GE(buffered.file->content.size(), 8192U);
}

TEST(BufferedStore, ReportsALostWriteAtSyncAndClose) {
  for (const auto end : {&BufferedStore::sync, &BufferedStore::close, &BufferedStore::settle}) {
    Buffered buffered;
    buffered.file->space = 50;
    ASSERT_EQ(buffered.write(0, 100, 1).bytes, 100);
    const Error lost = ((*buffered.store).*end)();
    EXPECT_EQ(lost.error_class, ErrorClass::no_space);
    EXPECT_NE(lost.message.find("cannot write what was buffered for 'f'"), std::string::npos);
    // It has been told: nothing of it is written over what comes later.
    buffered.file->space = -1;
    buffered.file->content.assign(100, 9);
    EXPECT_FALSE(((*buffered.store).*end)());
    EXPECT_EQ(buffered.file->content, Bytes(100, 9));
  }
}

/// As NFS does, which then takes the same bytes, but has lost others.
TEST(BufferedStore, TellsAnErrorThatComesOnce) {
  Buffered buffered;
  buffered.file->write_error = EDQUOT;
  int told = 0;
  for (FileOffset at = 0; at < 60'000; at += 100) {
    const Transferred done = buffered.write(at, 100, 1);
    if (done.system_error == 0) continue;
    EXPECT_EQ(done.system_error, EDQUOT);
    told += 1;
    at -= 100;
  }
  told += buffered.store->close() ? 1 : 0;
  EXPECT_EQ(told, 1);
  EXPECT_EQ(buffered.file->content, Bytes(60'000, 1));
}

TEST(BufferedStore, TellsReadsThatFail) {
  Buffered buffered;
  buffered.file->content.assign(8192, 1);
  buffered.file->is_broken = true;
  int system_error = 0;
  for (FileOffset at = 0; at < 300; at += 100) {
    EXPECT_TRUE(buffered.read(at, 100, &system_error).empty());
    EXPECT_EQ(system_error, EIO);
  }
}

/// One random call after the other, against a plain file.
TEST(BufferedStore, IsAFileLikeAnyOther) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](int most) { return static_cast<int>(random() % (most + 1U)); };
    Buffered buffered({.size = 4096, .count = 1 + upto(3), .prefetch = upto(1)});
    Bytes expected;
    FileOffset next = 0;
    for (int step = 0; step < 600; ++step) {
      const FileOffset offset = upto(3) > 0 ? next : upto(40'000);
      const ByteCount bytes = upto(20) == 0 ? upto(12'000) : upto(300);
      next = offset + bytes;
      const auto begin = static_cast<std::size_t>(offset);
      const auto end = static_cast<std::size_t>(next);
      switch (upto(20)) {
        case 0:
          ASSERT_FALSE(buffered.store->settle());
          ASSERT_EQ(buffered.file->content, expected) << seed << " " << step;
          break;
        case 1:
          ASSERT_EQ(buffered.store->size().value(), static_cast<ByteCount>(expected.size()));
          break;
        case 2:
          if (upto(3) > 0) break;
          ASSERT_FALSE(buffered.store->resize(offset));
          expected.resize(begin);
          break;
        default:
          if (random() % 2 == 0) {
            const auto value = static_cast<std::uint8_t>(random());
            ASSERT_EQ(buffered.write(offset, bytes, value).bytes, bytes);
            if (bytes == 0) break;
            if (expected.size() < end) expected.resize(end);
            std::fill(expected.begin() + offset, expected.begin() + next, value);
          } else {
            const Bytes got = buffered.read(offset, bytes);
            const std::size_t last = std::min(end, expected.size());
            const Bytes want = begin >= last
                                   ? Bytes()
                                   : Bytes(expected.begin() + offset,
                                           expected.begin() + static_cast<std::ptrdiff_t>(last));
            ASSERT_EQ(got, want) << seed << " " << step << " at " << offset;
          }
      }
    }
    ASSERT_FALSE(buffered.store->close());
    ASSERT_EQ(buffered.file->content, expected) << seed;
  }
}

TEST(BufferedStore, ServesSeveralThreads) {
  constexpr int kThreads = 4;
  constexpr FileOffset kPart = 50'000;
  Buffered buffered({.size = 4096, .count = 2, .prefetch = 1});
  std::atomic<int> wrong = 0;
  const auto run = [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    const auto value = static_cast<std::uint8_t>(thread + 1);
    for (FileOffset at = 0; at < kPart;) {
      const ByteCount bytes =
          std::min<ByteCount>(kPart - at, 1 + random() % (at % 7 == 0 ? 9000 : 400));
      const FileOffset offset = thread * kPart + at;
      if (buffered.write(offset, bytes, value).bytes != bytes) ++wrong;
      if (random() % 3 == 0 &&
          buffered.read(offset, bytes) != Bytes(static_cast<std::size_t>(bytes), value)) {
        ++wrong;
      }
      at += bytes;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  ASSERT_FALSE(buffered.store->close());
  ASSERT_EQ(buffered.file->content.size(), static_cast<std::size_t>(kThreads * kPart));
  for (FileOffset at = 0; at < kThreads * kPart; ++at) {
    ASSERT_EQ(buffered.file->content[static_cast<std::size_t>(at)], at / kPart + 1) << at;
  }
}

/// As where another thread makes a collective call.
TEST(BufferedStore, KeepsWhatIsWrittenWhileItSettles) {
  Buffered buffered;
  buffered.file->before = [](Direction) { std::this_thread::yield(); };
  std::atomic<bool> is_done = false;
  std::thread settling([&] {
    while (!is_done) EXPECT_FALSE(buffered.store->settle());
  });
  int wrong = 0;
  for (FileOffset at = 0; at < 200'000; at += 10) {
    const auto value = static_cast<std::uint8_t>(at / 10);
    if (buffered.write(at, 10, value).bytes != 10) ++wrong;
    if (at % 70 == 0 && buffered.read(at, 10) != Bytes(10, value)) ++wrong;
  }
  is_done = true;
  settling.join();
  EXPECT_EQ(wrong, 0);
  ASSERT_FALSE(buffered.store->close());
  for (FileOffset at = 0; at < 200'000; ++at) {
    ASSERT_EQ(buffered.file->content[static_cast<std::size_t>(at)],
              static_cast<std::uint8_t>(at / 10))
        << at;
  }
}

TEST(BufferedStore, WritesEverythingWhenAllIsSettled) {
  Buffered buffered;
  ASSERT_EQ(buffered.write(0, 100, 1).bytes, 100);
  EXPECT_EQ(buffered.writes(), 0);
  EXPECT_EQ(settle_all(), 0);
  EXPECT_EQ(buffered.file->content, Bytes(100, 1));
}

TEST(BufferedStore, IsWrittenWhenItIsDropped) {
  Buffered buffered;
  ASSERT_EQ(buffered.write(0, 100, 1).bytes, 100);
  buffered.store.reset();
  EXPECT_EQ(buffered.file->content, Bytes(100, 1));
}

/// As in a signal's handler that interrupted a write and ends the program.
TEST(BufferedStore, DoesNotWaitForAThreadThatNeverGoesOn) {
  Buffered buffered;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_stuck = false;
  bool goes_on = false;
  buffered.file->before = [&](Direction) {
    std::unique_lock lock(mutex);
    if (std::exchange(is_stuck, true)) return;
    changed.notify_all();
    changed.wait(lock, [&] { return goes_on; });
  };
  ASSERT_EQ(buffered.write(0, 100, 1).bytes, 100);
  std::thread stuck([&] { EXPECT_FALSE(buffered.store->sync()); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_stuck; });
  }
  EXPECT_EQ(settle_all(), 0);
  EXPECT_EQ(buffered.file->content, Bytes(100, 1));
  {
    const std::lock_guard lock(mutex);
    goes_on = true;
  }
  changed.notify_all();
  stuck.join();
  EXPECT_EQ(buffered.file->content, Bytes(100, 1));
}

TEST(BufferedStore, LeavesItsParentsBytesAlone) {
  Buffered buffered;
  ASSERT_EQ(buffered.write(0, 100, 1).bytes, 100);
  const pid_t child = fork();
  if (child == 0) {
    settle_all();
    buffered.store.reset();
    _exit(buffered.file->content.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(buffered.store->close());
  EXPECT_EQ(buffered.file->content, Bytes(100, 1));
}

}  // namespace
}  // namespace headrace::buffering
