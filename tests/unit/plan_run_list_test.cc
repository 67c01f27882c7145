#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "plan/run_list.h"

namespace headrace::plan {
namespace {

/// A window's coverage, and the list that is made of it.
class Written {
 public:
  Written(ByteCount window_size, int shift)
      : window_size_(window_size),
        shift_(shift),
        words_(new Coverage::Word[static_cast<std::size_t>(words())]{}),
        covered_(words_.get(), shift),
        room_(static_cast<std::size_t>(words())) {}

  Coverage& covered() { return covered_; }
  void write() {
    list_ = write_runs(covered_, window_size_, shift_, std::as_writable_bytes(std::span(room_)));
  }
  const RunList& list() const { return list_; }
  std::span<std::byte> bytes() {
    return std::as_writable_bytes(std::span(room_)).first(list_.size);
  }
  RunReader reader() { return {list_.form, bytes(), window_size_, shift_}; }

  /// Each byte of the window, 1 where it is in the list; empty where the list is broken.
  std::vector<int> read() {
    std::vector<int> in_list(static_cast<std::size_t>(window_size_));
    RunReader runs = reader();
    StridedRun run;
    while (runs.next(run)) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        const ByteCount begin = run.offset + i * run.stride;
        for (ByteCount at = begin; at < begin + run.length; ++at) {
          in_list.at(static_cast<std::size_t>(at)) += 1;
        }
      }
    }
    return runs.is_broken() ? std::vector<int>() : in_list;
  }

 private:
  std::int64_t words() const { return Coverage::words_for(window_size_, shift_); }

  ByteCount window_size_;
  int shift_;
  std::unique_ptr<Coverage::Word[]> words_;
  Coverage covered_;
  std::vector<std::uint64_t> room_;
  RunList list_;
};

TEST(RunList, TellsOfARegularViewInAFewBytes) {
  Written written(1 << 20, 4);
  written.covered().mark_strided(160, 10'000, 40'000, 26);
  written.write();
  EXPECT_EQ(written.list().bytes, 260'000);
  EXPECT_LE(written.list().size, 8U);
}

TEST(RunList, IsAMapWhereThatIsShorter) {
  Written written(4096, 0);
  std::mt19937_64 random(1);
  for (ByteCount at = 0; at < 4096; ++at) {
    if (random() % 2 == 0) written.covered().mark(at, 1);
  }
  written.write();
  EXPECT_EQ(written.list().form, RunForm::map);
  EXPECT_EQ(written.list().size, 512U);
}

TEST(RunList, KeepsWhatIsCovered) {
  std::mt19937_64 random(2);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int turn = 0; turn < 400; ++turn) {
    const int shift = static_cast<int>(number(0, 5));
    const std::int64_t granules = 4096 >> shift;
    std::vector<int> expected(4096);
    Written written(4096, shift);
    for (std::int64_t pieces = number(0, 60); pieces > 0; --pieces) {
      const std::int64_t begin = number(0, granules - 1) << shift;
      const std::int64_t end = std::min<std::int64_t>(4096, begin + (number(1, 20) << shift));
      written.covered().mark(begin, end - begin);
      std::fill(expected.begin() + begin, expected.begin() + end, 1);
    }
    written.write();
    ASSERT_EQ(written.read(), expected) << turn;
    ASSERT_EQ(written.list().bytes, std::count(expected.begin(), expected.end(), 1));
  }
}

TEST(RunList, NeverLeadsOutOfTheWindow) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 2000; ++turn) {
    Written written(4096, turn % 4);
    written.covered().mark_strided(0, 256, 512, 7);
    written.covered().mark(3968, 128);
    written.write();
    for (std::byte& byte : written.bytes()) {
      if (random() % 3 == 0) byte = static_cast<std::byte>(random());
    }
    written.read();  // .at() throws where a run leaves the window
  }
}

TEST(RunList, VisitsWhatLiesBelow) {
  const StridedRun run{100, 10, 30, 4};
  for (ByteCount end = 0; end < 230; ++end) {
    std::vector<int> seen(300);
    visit_below(run, end, [&](const StridedRun& part) {
      for (std::int64_t i = 0; i < part.bytes(); ++i) {
        seen[static_cast<std::size_t>(part.offset + i / part.length * part.stride +
                                      i % part.length)] += 1;
      }
    });
    for (ByteCount at = 0; at < 300; ++at) {
      const bool in_run = at >= 100 && at < 200 && (at - 100) % 30 < 10;
      ASSERT_EQ(seen[static_cast<std::size_t>(at)], in_run && at < end ? 1 : 0) << end;
    }
  }
}

}  // namespace
}  // namespace headrace::plan
