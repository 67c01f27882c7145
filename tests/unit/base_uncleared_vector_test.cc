#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/uncleared_vector.h"

namespace headrace {
namespace {

using Numbers = UnclearedVector<std::int64_t>;

constexpr std::size_t kHugePage = std::size_t{1} << 21;

TEST(UnclearedVector, KeepsItsNumbersOfAnySize) {
  constexpr std::size_t kOfHugePage = kHugePage / sizeof(std::int64_t);
  for (const std::size_t count :
       {std::size_t{1}, kOfHugePage - 1, kOfHugePage, kOfHugePage + 1, 3 * kOfHugePage + 7}) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 5);
    // Both sides of the size from which on memory comes in another way.
    for (int i = 0; i < 3; ++i) numbers.push_back(i);
    numbers.insert(numbers.end(), count, -1);
    const Numbers moved = std::move(numbers);
    ASSERT_EQ(moved.size(), 2 * count + 3);
    EXPECT_EQ(moved[0], 5);
    EXPECT_EQ(moved[count - 1], 4 + static_cast<std::int64_t>(count));
    EXPECT_EQ(moved[count + 2], 2);
    EXPECT_EQ(moved.back(), -1);
    EXPECT_EQ(Numbers(moved), moved);
  }
}

TEST(UnclearedVector, BeginsAHugePageWhereItIsLarge) {
  errno = 7;
  const Numbers numbers(kHugePage / sizeof(std::int64_t));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(numbers.data()) % kHugePage, 0U);
  EXPECT_EQ(errno, 7) << "the kernel may know no huge pages";
}

}  // namespace
}  // namespace headrace
