#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "plan/coverage.h"

namespace headrace::plan {
namespace {

constexpr ByteCount kGranules = 700;

std::vector<bool> marked(const Coverage& coverage, int shift) {
  std::vector<bool> granules(kGranules, false);
  const ByteCount end = kGranules << shift;
  ByteCount begin = 0;
  ByteCount len = 0;
  for (ByteCount at = 0; coverage.next_run(at, end, begin, len); at = begin + len) {
    EXPECT_GE(begin, at);
    EXPECT_GT(len, 0);
    for (ByteCount i = begin >> shift; i < (begin + len) >> shift; ++i) {
      granules[static_cast<std::size_t>(i)] = true;
    }
  }
  return granules;
}

TEST(Coverage, FindsWhatWasMarked) {
  std::mt19937_64 random(3);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::vector<Coverage::Word> words(static_cast<std::size_t>(Coverage::words_for(kGranules, 0)));
  for (int turn = 0; turn < 2'000; ++turn) {
    const int shift = static_cast<int>(number(0, 12));
    Coverage coverage(words.data(), shift);
    std::vector<bool> expected(kGranules, false);
    for (std::int64_t i = number(0, 6); i > 0; --i) {
      const std::int64_t len = number(1, number(0, 1) ? 3 : 150);
      const std::int64_t stride = len + number(0, 70);
      const std::int64_t begin = number(0, kGranules - len);
      const std::int64_t count = number(1, (kGranules - len - begin) / stride + 1);
      if (count == 1) {
        coverage.mark(begin << shift, len << shift);
      } else {
        coverage.mark_strided(begin << shift, len << shift, stride << shift, count);
      }
      for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t j = 0; j < len; ++j) {
          expected[static_cast<std::size_t>(begin + k * stride + j)] = true;
        }
      }
    }
    ASSERT_EQ(marked(coverage, shift), expected) << "turn " << turn;
    coverage.clear(kGranules << shift);
    ASSERT_EQ(marked(coverage, shift), std::vector<bool>(kGranules, false));
  }
}

TEST(Coverage, StopsAtTheEndThatIsAskedFor) {
  std::vector<Coverage::Word> words(2);
  Coverage coverage(words.data(), 0);
  coverage.mark(10, 100);
  ByteCount begin = 0;
  ByteCount len = 0;
  ASSERT_TRUE(coverage.next_run(20, 70, begin, len));
  EXPECT_EQ(begin, 20);
  EXPECT_EQ(len, 50);
  EXPECT_FALSE(coverage.next_run(110, 128, begin, len));
}

TEST(Coverage, LosesNoMarkOfSeveralThreads) {
  constexpr int kThreads = 4;
  std::vector<Coverage::Word> words(static_cast<std::size_t>(Coverage::words_for(kGranules, 0)));
  for (int turn = 0; turn < 200; ++turn) {
    Coverage coverage(words.data(), 0);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&coverage, thread] {
        coverage.mark_strided(thread, 1, kThreads, kGranules / kThreads);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(marked(coverage, 0), std::vector<bool>(kGranules, true));
    coverage.clear(kGranules);
  }
}

}  // namespace
}  // namespace headrace::plan
