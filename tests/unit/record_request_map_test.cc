#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

#include "record/request_map.h"

namespace headrace::record {
namespace {

using Map = RequestMap<int>;

/// What is found up to a serial number, and whether it stays; -1: nothing.
int found(Map& map, std::uintptr_t key, std::uint64_t serial, bool stays = true) {
  int value = -1;
  map.visit(key, serial, [&](int own) {
    value = own;
    return stays;
  });
  return value;
}

bool put(Map& map, std::uintptr_t key, std::uint64_t serial, int value, int most = 4) {
  bool is_new = false;
  EXPECT_TRUE(map.put(key, serial, value, most, is_new));
  return is_new;
}

TEST(RequestMap, FindsTheLatestUpToANumber) {
  Map map;
  put(map, 7, 1, 10);
  put(map, 7, 5, 50);
  put(map, 7, 3, 30);
  EXPECT_EQ(found(map, 7, 0), -1);
  EXPECT_EQ(found(map, 7, 2), 10);
  EXPECT_EQ(found(map, 7, 4), 30);
  EXPECT_EQ(found(map, 7, Map::kLatest), 50);
  EXPECT_EQ(found(map, 8, Map::kLatest), -1);
}

TEST(RequestMap, TakesOneAwayAlone) {
  Map map;
  put(map, 7, 1, 10);
  put(map, 7, 5, 50);
  EXPECT_EQ(found(map, 7, Map::kLatest, false), 50);
  EXPECT_EQ(found(map, 7, Map::kLatest), 10);
}

TEST(RequestMap, ReplacesTheEarliestIfThereAreMost) {
  Map map;
  EXPECT_TRUE(put(map, 7, 1, 10, 2));
  EXPECT_TRUE(put(map, 7, 2, 20, 2));
  EXPECT_FALSE(put(map, 7, 3, 30, 2));
  EXPECT_EQ(found(map, 7, 1), -1);
  EXPECT_EQ(found(map, 7, 2), 20);
  EXPECT_EQ(found(map, 7, 3), 30);
}

TEST(RequestMap, IsRightAmongManyHandles) {
  Map map;
  std::multimap<std::uintptr_t, std::pair<std::uint64_t, int>> wanted;
  std::mt19937 random(7);
  for (int step = 1; step <= 20000; ++step) {
    const std::uintptr_t key = random() % 500 * 16;
    if (random() % 2 == 0) {
      put(map, key, static_cast<std::uint64_t>(step), step, 1000);
      wanted.emplace(key, std::pair(step, step));
      continue;
    }
    const std::uint64_t serial = random() % static_cast<unsigned>(step);
    auto best = wanted.end();
    const auto [begin, end] = wanted.equal_range(key);
    for (auto one = begin; one != end; ++one) {
      if (one->second.first > serial) continue;
      if (best == wanted.end() || one->second.first > best->second.first) best = one;
    }
    const int expected = best == wanted.end() ? -1 : best->second.second;
    ASSERT_EQ(found(map, key, serial, false), expected) << "step " << step;
    if (best != wanted.end()) wanted.erase(best);
  }
}

TEST(RequestMap, HoldsForThreadsAtOnce) {
  Map map;
  std::vector<std::thread> threads;
  for (int own = 0; own < 4; ++own) {
    threads.emplace_back([&map, own] {
      for (int i = 0; i < 20000; ++i) {
        const auto key = static_cast<std::uintptr_t>(4 * (i % 64) + own);
        const int value = i * 4 + own;
        put(map, key, 1, value, 1);
        EXPECT_EQ(found(map, key, 1, false), value);
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace headrace::record
