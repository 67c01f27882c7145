#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>

#include "base/memory_account.h"
#include "unit/allocation_operators.h"
#include "view/cursor.h"
#include "view/type.h"

// What datatypes of many pieces cost: the heap itself is counted, and compared with what is told.

namespace {

std::atomic<std::int64_t> heap_now = 0;
std::atomic<std::int64_t> heap_peak = 0;

}  // namespace

bool headrace::allocation::is_refused() noexcept {
  return false;
}
void headrace::allocation::note_taken(void* place) noexcept {
  const std::int64_t now = heap_now += static_cast<std::int64_t>(malloc_usable_size(place));
  if (now > heap_peak) heap_peak = now;
}
void headrace::allocation::note_given_back(void* place) noexcept {
  heap_now -= static_cast<std::int64_t>(malloc_usable_size(place));
}

namespace headrace::view {
namespace {

/// What shared nodes, vectors and the allocator's rounding may cost beside the lists.
constexpr std::int64_t kBeside = 20'000;

/// The same, and the address space that is counted with large lists, since they begin a huge page:
/// less than one behind each, which nobody touches.
std::int64_t beside(std::int64_t lists, std::int64_t count) {
  constexpr std::int64_t kHugePage = std::int64_t{1} << 21;
  return kBeside + (8 * count >= kHugePage ? lists * kHugePage : 0);
}

struct Cost {
  std::int64_t kept = 0;  ///< bytes while the type lives
  std::int64_t peak = 0;  ///< bytes while it is made, the lists that it is made of included
  std::int64_t told = 0;  ///< by the account
};

template <class Length, class Offset>
Cost cost_of(std::int64_t count, Length length, Offset offset, TypePtr& type) {
  type.reset();
  const std::int64_t before = heap_now;
  heap_peak = before;
  UnclearedVector<std::int64_t> lengths;
  UnclearedVector<std::int64_t> offsets;
  lengths.reserve(static_cast<std::size_t>(count) + 1);
  offsets.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(length(i));
    offsets.push_back(offset(i));
  }
  type = take_hindexed(std::move(lengths), std::move(offsets), make_basic(1));
  return {heap_now - before, heap_peak - before, memory_taken(MemoryUse::pieces).now};
}

class Lists : public testing::TestWithParam<std::int64_t> {};

TEST_P(Lists, OfIrregularPiecesCostSixteenBytesAPiece) {
  const std::int64_t count = GetParam();
  TypePtr type;
  const Cost cost = cost_of(
      count, [](std::int64_t i) { return 1 + i % 7; },
      [](std::int64_t i) { return i * 20 + i % 3; }, type);
  EXPECT_EQ(type->piece_count(), count);
  EXPECT_LE(cost.kept, 16 * count + beside(2, count));
  EXPECT_LE(cost.peak, 16 * count + beside(2, count)) << "the lists are copied on the way";
  EXPECT_LE(cost.told, cost.kept);
  EXPECT_GE(cost.told, 16 * count);
}

TEST_P(Lists, OfEqualPiecesCostEightBytesAPiece) {
  const std::int64_t count = GetParam();
  TypePtr type;
  const Cost cost = cost_of(
      count, [](std::int64_t) { return 8; }, [](std::int64_t i) { return i * 20 + i % 3; }, type);
  EXPECT_LE(cost.kept, 8 * count + beside(1, count));
  EXPECT_LE(cost.peak, 16 * count + beside(2, count));
  EXPECT_GE(cost.told, 8 * count);
}

TEST_P(Lists, OfRegularPiecesCostNothing) {
  TypePtr type;
  const Cost cost = cost_of(
      GetParam(), [](std::int64_t) { return 8; }, [](std::int64_t i) { return i * 20; }, type);
  EXPECT_LE(cost.kept, kBeside);
  EXPECT_EQ(cost.told, 0);
}

TEST_P(Lists, OfPiecesThatMeetCostWhatIsLeft) {
  const std::int64_t count = GetParam();
  TypePtr type;
  // Every hundredth begins anew.
  const Cost cost = cost_of(
      count, [](std::int64_t i) { return 4 + i / 100 % 3; },
      [](std::int64_t i) {
        const std::int64_t length = 4 + i / 100 % 3;
        return i / 100 * 1'000 + i / 100 % 5 + i % 100 * length;
      },
      type);
  EXPECT_EQ(type->piece_count(), count / 100);
  EXPECT_LE(cost.kept, 16 * (count / 100) + kBeside);
  EXPECT_LE(cost.told, 16 * (count / 100) + 1'000);
}

/// A cursor is no copy of the list, and neither is a view of the type with other bounds.
TEST_P(Lists, AreSharedByCursorsAndTypes) {
  TypePtr type;
  static_cast<void>(cost_of(
      GetParam(), [](std::int64_t i) { return 1 + i % 7; },
      [](std::int64_t i) { return i * 20 + i % 3; }, type));
  const std::int64_t before = heap_now;
  heap_peak = before;
  const TypePtr resized = make_resized(type, 0, GetParam() * 40);
  std::vector<Cursor> cursors(16, Cursor(resized, 0));
  for (Cursor& cursor : cursors) {
    while (cursor.position() < resized->size() / 2) cursor.next();
  }
  EXPECT_LE(heap_peak - before, kBeside);
}

TEST_P(Lists, AreGivenBack) {
  TypePtr type;
  static_cast<void>(cost_of(
      GetParam(), [](std::int64_t i) { return 1 + i % 7; },
      [](std::int64_t i) { return i * 20 + i % 3; }, type));
  type.reset();
  EXPECT_EQ(memory_taken(MemoryUse::pieces).now, 0);
}

INSTANTIATE_TEST_SUITE_P(Pieces, Lists, testing::Values(10'000, 10'000'000));

TEST(MemoryAccount, TakesWithinALimit) {
  const auto now = [] { return memory_taken(MemoryUse::buffers).now; };
  EXPECT_TRUE(take_memory_within(MemoryUse::buffers, 60, 100));
  EXPECT_FALSE(take_memory_within(MemoryUse::buffers, 41, 100));
  EXPECT_TRUE(take_memory_within(MemoryUse::buffers, 40, 100));
  give_memory_back(MemoryUse::buffers, 100);
  EXPECT_EQ(now(), 0);
  EXPECT_EQ(memory_taken(MemoryUse::buffers).peak, 100);
  {
    CountedMemory counted(MemoryUse::buffers, 7);
    CountedMemory moved(std::move(counted));
    EXPECT_EQ(now(), 7);
  }
  EXPECT_EQ(now(), 0);
}

}  // namespace
}  // namespace headrace::view
