#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "steps/engine/make_type.h"
#include "steps/type_generator.h"
#include "view/cursor.h"

namespace headrace::view::test {
namespace {

using steps::Numbers;
using steps::Pair;
using steps::TypeGenerator;
using steps::TypeTree;

void append_bytes(Numbers& bytes, const StridedRun& run) {
  for (std::int64_t i = 0; i < run.count; ++i) {
    for (std::int64_t b = 0; b < run.length; ++b) {
      bytes.push_back(run.offset + i * run.stride + b);
    }
  }
}

bool is_prefix_at(const Numbers& part, const Numbers& whole, std::int64_t position) {
  return position + std::ssize(part) <= std::ssize(whole) &&
         std::equal(part.begin(), part.end(), whole.begin() + position);
}

/// A type with data, its model repeated, and where it was put.
struct Walk {
  Walk(std::uint64_t seed, bool ascending) : generator(seed, ascending) {
    do pair = pair_of(generator.make(static_cast<int>(seed % 6)));
    while (pair.model.offsets.empty());
    origin = generator.number(0, 1000);
    bytes = pair.model.repeated(kRepetitions, origin);
  }
  static constexpr std::int64_t kRepetitions = 5;

  TypeGenerator generator;
  Pair pair;
  std::int64_t origin = 0;
  Numbers bytes;
};

TEST(ViewCursor, RandomStepsGiveTheBytesInOrder) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Walk walk(seed, seed % 2 == 1);
    Cursor cursor(walk.pair.type, walk.origin, std::ssize(walk.bytes));
    std::int64_t position = 0;
    for (int step = 0; step < 40; ++step) {
      ASSERT_EQ(cursor.position(), position);
      ASSERT_EQ(cursor.remaining(), std::ssize(walk.bytes) - position);
      if (cursor.remaining() == 0 || walk.generator.number(0, 9) == 0) {
        position = walk.generator.number(0, std::ssize(walk.bytes));
        cursor.seek(position);
        continue;
      }
      ASSERT_EQ(cursor.peek(), walk.bytes[position]) << "seed " << seed;
      const ByteCount limit = walk.generator.number(1, step % 2 ? 20 : 2000);
      const StridedRun run = cursor.next(limit);
      ASSERT_GT(run.bytes(), 0);
      ASSERT_LE(run.bytes(), limit);
      Numbers found;
      append_bytes(found, run);
      ASSERT_TRUE(is_prefix_at(found, walk.bytes, position)) << "seed " << seed;
      position += run.bytes();
    }
  }
}

TEST(ViewCursor, NextBeforeStopsAtTheEnd) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Walk walk(seed, seed % 4 != 0);  // other types stop at the first byte in data order
    Cursor cursor(walk.pair.type, walk.origin, std::ssize(walk.bytes));
    const auto [lowest, highest] = std::minmax_element(walk.bytes.begin(), walk.bytes.end());
    std::int64_t end = *lowest;
    std::int64_t position = 0;
    while (cursor.remaining() > 0 && end <= *highest) {
      end += walk.generator.number(0, 40);
      const auto stop = std::find_if(walk.bytes.begin() + position, walk.bytes.end(),
                                     [&](std::int64_t offset) { return offset >= end; });
      Numbers expected(walk.bytes.begin() + position, stop);
      Numbers found;
      while (std::ssize(found) < std::ssize(expected)) {
        const ByteCount limit = walk.generator.number(1, 300);
        const StridedRun run = cursor.next_before(end, limit);
        ASSERT_GT(run.bytes(), 0) << "seed " << seed;
        ASSERT_LE(run.bytes(), limit);
        append_bytes(found, run);
      }
      ASSERT_EQ(found, expected) << "seed " << seed << " end " << end;
      ASSERT_EQ(cursor.next_before(end).count, 0);
      position += std::ssize(found);
      ASSERT_EQ(cursor.position(), position);
    }
  }
}

TEST(ViewCursor, OffsetsAndDataPositionsAreInverse) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Walk walk(seed, true);
    const Type& type = *walk.pair.type;
    for (std::int64_t i = 0; i < std::ssize(walk.bytes); ++i) {
      ASSERT_EQ(offset_of(type, walk.origin, i), walk.bytes[i]);
    }
    for (std::int64_t end = walk.origin - 3; end <= walk.bytes.back() + 1; ++end) {
      const auto below = std::lower_bound(walk.bytes.begin(), walk.bytes.end(), end);
      ASSERT_EQ(data_below(type, walk.origin, end), below - walk.bytes.begin())
          << "seed " << seed << " end " << end;
    }
  }
}

TEST(ViewCursor, OffsetsOfAnyType) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Walk walk(seed, false);
    for (std::int64_t i = 0; i < std::ssize(walk.bytes); ++i) {
      ASSERT_EQ(offset_of(*walk.pair.type, walk.origin, i), walk.bytes[i]) << "seed " << seed;
    }
  }
}

TEST(ViewCursor, CopiesWalkOnTheirOwn) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Walk walk(seed, false);
    Cursor cursor(walk.pair.type, walk.origin, std::ssize(walk.bytes));
    cursor.next(walk.generator.number(1, std::ssize(walk.bytes)));
    Cursor copy = cursor;
    const std::int64_t position = copy.position();
    while (cursor.remaining() > 0) cursor.next();
    Numbers rest;
    while (copy.remaining() > 0) append_bytes(rest, copy.next());
    EXPECT_TRUE(is_prefix_at(rest, walk.bytes, position));
    EXPECT_EQ(position + std::ssize(rest), std::ssize(walk.bytes));
  }
}

/// Nested deeper than a cursor keeps without heap memory; strides that never merge.
TEST(ViewCursor, DeepTypes) {
  TypeTree tree = steps::basic(1);
  for (std::int64_t level = 0; level < 10; ++level) {
    const std::int64_t stride = expand(tree).extent() + 1 + level;
    tree = make_tree(steps::TypeKind::hvector, {{2}, {1}, {stride}}, {tree});
  }
  const Pair pair = pair_of(tree);
  ASSERT_EQ(pair.type->layout().node->depth, 10);
  const Numbers bytes = pair.model.repeated(3, 5);
  Cursor cursor(pair.type, 5, std::ssize(bytes));
  Numbers found;
  while (cursor.remaining() > 0) append_bytes(found, cursor.next(3));
  EXPECT_EQ(found, bytes);
  for (std::int64_t position = 0; position < std::ssize(bytes); position += 37) {
    Cursor other(pair.type, 5);
    other.seek(position);
    const Cursor moved = std::move(other);
    ASSERT_EQ(moved.peek(), bytes[position]);
  }
}

TEST(ViewCursor, ContiguousTypesComeInOneRun) {
  Cursor cursor(make_basic(8), 100, ByteCount{1} << 50);
  EXPECT_EQ(cursor.next(12).bytes(), 12);
  const StridedRun run = cursor.next();
  EXPECT_EQ(run.offset, 112);
  EXPECT_EQ(run.length, (ByteCount{1} << 50) - 12);
  EXPECT_EQ(run.count, 1);
  EXPECT_EQ(cursor.next().count, 0);

  Cursor endless(make_contiguous(3, make_basic(8)), 0);
  EXPECT_EQ(endless.next_before(ByteCount{1} << 40).length, ByteCount{1} << 40);
  EXPECT_EQ(endless.peek(), ByteCount{1} << 40);
}

TEST(ViewCursor, StridedTypesComeInOneRun) {
  const TypePtr type = make_resized(make_basic(8), 0, 64);
  Cursor cursor(type, 16);
  StridedRun run = cursor.next(1 << 20);
  EXPECT_EQ(run.offset, 16);
  EXPECT_EQ(run.length, 8);
  EXPECT_EQ(run.stride, 64);
  EXPECT_EQ(run.count, 1 << 17);
  const std::int64_t next = 16 + (std::int64_t{64} << 17);
  run = cursor.next_before(next + 64 * 10 + 4);
  EXPECT_EQ(run.offset, next);
  EXPECT_EQ(run.count, 10);
  run = cursor.next_before(next + 64 * 10 + 4);
  EXPECT_EQ(run.count, 1);
  EXPECT_EQ(run.length, 4);
  run = cursor.next(100);
  EXPECT_EQ(run.length, 4);
  EXPECT_EQ(run.offset, next + 644);
}

TEST(ViewCursor, RegularPartsOfListsComeTogether) {
  Numbers displacements;
  for (std::int64_t i = 0; i < 100; ++i) displacements.push_back(32 * i);
  for (std::int64_t i = 0; i < 100; ++i) displacements.push_back(10000 + 24 * i);
  Cursor cursor(make_hindexed_block(1, displacements, make_basic(8)), 0, 1600);
  EXPECT_EQ(cursor.next().count, 100);
  const StridedRun run = cursor.next();
  EXPECT_EQ(run.offset, 10000);
  EXPECT_EQ(run.stride, 24);
  EXPECT_EQ(run.count, 100);
}

TEST(ViewCursor, PiecesThatMeetAcrossRepetitionsJoin) {
  const TypePtr type =
      make_resized(make_hindexed(Numbers{4, 10}, Numbers{0, 6}, make_basic(1)), 0, 16);
  Cursor cursor(type, 0, 28);
  EXPECT_EQ(cursor.next().length, 4);
  const StridedRun run = cursor.next();
  EXPECT_EQ(run.offset, 6);
  EXPECT_EQ(run.length, 14);
}

TEST(ViewCursor, EmptyTypesHaveNothing) {
  Cursor cursor(make_contiguous(0, make_basic(8)), 10);
  EXPECT_EQ(cursor.remaining(), 0);
  EXPECT_EQ(cursor.next().count, 0);
  EXPECT_EQ(cursor.next_before(100).count, 0);
  EXPECT_EQ(data_below(*cursor.type(), 10, 100), 0);
}

TEST(ViewCursor, SeeksInLongListsAreExact) {
  Numbers lengths, displacements;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 300000; ++i) {
    lengths.push_back(1 + i % 3);
    displacements.push_back(at);
    at += 8 + i % 5;
  }
  const TypePtr type = make_hindexed(lengths, displacements, make_basic(1));
  Cursor cursor(type, 0);
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < 300000; ++i) {
    ASSERT_EQ(offset_of(*type, 0, position), displacements[i]);
    if (i % 1000 == 0) {
      cursor.seek(position);
      ASSERT_EQ(cursor.peek(), displacements[i]);
      ASSERT_EQ(data_below(*type, 0, displacements[i]), position);
    }
    position += lengths[i];
  }
}

}  // namespace
}  // namespace headrace::view::test
