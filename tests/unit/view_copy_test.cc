#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "steps/engine/make_type.h"
#include "steps/type_generator.h"
#include "view/copy.h"

namespace headrace::view::test {
namespace {

using steps::Numbers;
using steps::Pair;
using steps::TypeGenerator;
using Bytes = std::vector<std::byte>;

std::byte pattern(std::int64_t i) {
  return static_cast<std::byte>((i * 131 + i / 251) & 0xff);
}

Bytes pattern_bytes(std::int64_t size) {
  Bytes result(size);
  for (std::int64_t i = 0; i < size; ++i) result[i] = pattern(i);
  return result;
}

/// A random file view and a random buffer, walked in steps. Offsets of buffer bytes may be
/// negative: `memory` holds [memory_low, ...).
struct Transfer {
  explicit Transfer(std::uint64_t seed) : file_generator(seed, true), memory_generator(seed) {
    do file = pair_of(file_generator.make(static_cast<int>(seed % 5)));
    while (file.model.offsets.empty());
    do memory = pair_of(memory_generator.make(static_cast<int>(seed / 5 % 5)));
    while (memory.model.offsets.empty());
    displacement = file_generator.number(0, 500);
    total = file_generator.number(1, 4 * std::ssize(file.model.offsets));
    file_bytes = file.model.repeated(5, displacement);
    file_bytes.resize(total);
    memory_bytes = memory.model.repeated((total - 1) / std::ssize(memory.model.offsets) + 1);
    memory_bytes.resize(total);
    memory_low = *std::min_element(memory_bytes.begin(), memory_bytes.end());
    memory_size = *std::max_element(memory_bytes.begin(), memory_bytes.end()) + 1 - memory_low;
    file_size = file_bytes.back() + 1;
  }

  Cursor file_cursor() const { return Cursor(file.type, displacement, total); }
  Cursor memory_cursor() const { return Cursor(memory.type, -memory_low, total); }

  TypeGenerator file_generator, memory_generator;
  Pair file, memory;
  std::int64_t displacement, total;
  Numbers file_bytes, memory_bytes;
  std::int64_t memory_low, memory_size, file_size;
};

/// Moves everything window by window and returns the file offsets that were reported.
Numbers copy_by_windows(Transfer& transfer, Direction direction, Bytes& file, Bytes& memory) {
  Cursor file_cursor = transfer.file_cursor();
  Cursor memory_cursor = transfer.memory_cursor();
  Numbers reported;
  FileOffset begin = 0;
  while (file_cursor.remaining() > 0) {
    const FileOffset end = begin + transfer.file_generator.number(1, 200);
    const Window window{file.data() + begin, begin};
    for (;;) {
      const ByteCount limit = transfer.file_generator.number(1, 100);
      const ByteCount moved =
          copy(direction, window, file_cursor, end, memory.data(), memory_cursor, limit,
               [&](const StridedRun& run) {
                 for (std::int64_t i = 0; i < run.bytes(); ++i) {
                   reported.push_back(run.offset + i / run.length * run.stride + i % run.length);
                 }
               });
      EXPECT_LE(moved, limit);
      EXPECT_EQ(file_cursor.position(), memory_cursor.position());
      if (moved < limit) break;
    }
    begin = end;
  }
  return reported;
}

TEST(ViewCopy, WritesAreTheTypeMapsBytes) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Transfer transfer(seed);
    Bytes memory = pattern_bytes(transfer.memory_size);
    Bytes file(transfer.file_size, std::byte{0xee});
    Bytes expected = file;
    for (std::int64_t i = 0; i < transfer.total; ++i) {
      expected[transfer.file_bytes[i]] = memory[transfer.memory_bytes[i] - transfer.memory_low];
    }
    const Bytes untouched = memory;
    const Numbers reported = copy_by_windows(transfer, Direction::write, file, memory);
    ASSERT_EQ(file, expected) << "seed " << seed;
    ASSERT_EQ(memory, untouched) << "seed " << seed;
    ASSERT_EQ(reported, transfer.file_bytes) << "seed " << seed;
  }
}

TEST(ViewCopy, ReadsAreTheTypeMapsBytes) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Transfer transfer(seed);
    Bytes memory(transfer.memory_size, std::byte{0xee});
    Bytes file = pattern_bytes(transfer.file_size);
    Bytes expected = memory;
    for (std::int64_t i = 0; i < transfer.total; ++i) {
      expected[transfer.memory_bytes[i] - transfer.memory_low] = file[transfer.file_bytes[i]];
    }
    const Bytes untouched = file;
    copy_by_windows(transfer, Direction::read, file, memory);
    ASSERT_EQ(memory, expected) << "seed " << seed;
    ASSERT_EQ(file, untouched) << "seed " << seed;
  }
}

TEST(ViewCopy, PiecesCoverBothSidesInOrder) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Transfer transfer(seed);
    Cursor file = transfer.file_cursor();
    Cursor memory = transfer.memory_cursor();
    const ByteCount first = transfer.file_generator.number(0, transfer.total);
    Numbers file_bytes, memory_bytes;
    for (ByteCount part : {first, transfer.total + 7}) {
      const std::int64_t begin = std::ssize(file_bytes);
      std::int64_t visits = 0;
      const ByteCount visited = for_each_piece(
          file, memory, part, [&](FileOffset file_offset, std::int64_t offset, ByteCount length) {
            ++visits;
            for (ByteCount i = 0; i < length; ++i) {
              file_bytes.push_back(file_offset + i);
              memory_bytes.push_back(offset + i + transfer.memory_low);
            }
          });
      ASSERT_EQ(visited, std::ssize(file_bytes) - begin);
      std::int64_t fewest = visited > 0 ? 1 : 0;
      for (std::int64_t i = begin + 1; i < std::ssize(file_bytes); ++i) {
        if (file_bytes[i] != file_bytes[i - 1] + 1 || memory_bytes[i] != memory_bytes[i - 1] + 1) {
          ++fewest;
        }
      }
      ASSERT_EQ(visits, fewest) << "seed " << seed;  // nothing left that could be joined
    }
    ASSERT_EQ(file_bytes, transfer.file_bytes) << "seed " << seed;
    ASSERT_EQ(memory_bytes, transfer.memory_bytes) << "seed " << seed;
  }
}

/// Every length with a loop of its own, and its neighbours; strided on either or both sides. What
/// lies between the pieces stays as it is.
TEST(ViewCopy, StridedPiecesOfEveryLength) {
  constexpr std::int64_t kPieces = 50;
  for (std::int64_t length = 1; length <= 140; ++length) {
    for (std::int64_t file_gap : {0, 1, 5}) {
      for (std::int64_t memory_gap : {0, 3}) {
        const TypePtr file_type = make_resized(make_basic(length), 0, length + file_gap);
        const TypePtr memory_type = make_resized(make_basic(length), 0, length + memory_gap);
        const ByteCount total = kPieces * length;
        Bytes memory = pattern_bytes(kPieces * (length + memory_gap));
        Bytes file(kPieces * (length + file_gap), std::byte{0xee});
        Bytes expected = file;
        for (std::int64_t i = 0; i < total; ++i) {
          const std::int64_t piece = i / length;
          expected[i + piece * file_gap] = memory[i + piece * memory_gap];
        }
        Cursor file_cursor(file_type, 0, total);
        Cursor memory_cursor(memory_type, 0, total);
        ASSERT_EQ(copy(Direction::write, {file.data(), 0}, file_cursor, kUnlimited, memory.data(),
                       memory_cursor, kUnlimited),
                  total);
        ASSERT_EQ(file, expected) << length << " bytes, gaps " << file_gap << ", " << memory_gap;
      }
    }
  }
}

/// Past the caches or not, and fetched ahead or not: numbers of pieces around those that are asked
/// for ahead. The file ends with the last piece.
TEST(ViewCopy, StreamedPiecesOfEveryLength) {
  for (const std::int64_t length : {511, 512, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 10000}) {
    const std::int64_t ahead = (4096 + length - 1) / length;
    for (const std::int64_t pieces : {std::int64_t{1}, ahead, ahead + 1, std::int64_t{50}}) {
      for (const std::int64_t gap : {0, 5, 1000}) {
        const ByteCount total = pieces * length;
        const Bytes file = pattern_bytes(total + (pieces - 1) * gap);
        Bytes memory(total + pieces * gap, std::byte{0xee});
        Bytes expected = memory;
        for (std::int64_t i = 0; i < total; ++i) {
          expected[i + i / length * gap] = file[i + i / length * gap];
        }
        const TypePtr type = make_resized(make_basic(length), 0, length + gap);
        Cursor file_cursor(type, 0, total);
        Cursor memory_cursor(type, 0, total);
        const Window window{const_cast<std::byte*>(file.data()), 0};
        ASSERT_EQ(copy(Direction::read, window, file_cursor, kUnlimited, memory.data(),
                       memory_cursor, kUnlimited, Stores::streaming),
                  total);
        ASSERT_TRUE(memory == expected) << pieces << " of " << length << " bytes, gaps " << gap;
      }
    }
  }
}

TEST(ViewCopy, LongPiecesGoToAnyPlaceOfAPage) {
  constexpr std::int64_t kPlace = 4096 + 40;
  for (const std::int64_t length : {2047, 2048, 2111, 2112, 4096, 5001}) {
    const Bytes window = pattern_bytes(2 * length);
    for (const std::int64_t behind : {0, 1, 16, 31, 32, 40}) {
      Bytes memory(2 * kPlace + length);
      const auto distance = reinterpret_cast<std::uintptr_t>(window.data()) -
                            reinterpret_cast<std::uintptr_t>(memory.data());
      const auto place = static_cast<std::int64_t>(distance % 4096) + behind;
      Cursor file(make_basic(1), 0, length);
      Cursor cursor(make_basic(1), place, length);
      EXPECT_EQ(copy(Direction::read, {const_cast<std::byte*>(window.data()), 0}, file, length,
                     memory.data(), cursor, length),
                length);
      Bytes expected(memory.size());
      std::copy_n(window.begin(), length, expected.begin() + place);
      EXPECT_TRUE(memory == expected) << length << ' ' << behind;
    }
  }
}

TEST(ViewCopy, PairsOfStridedRunsComeTogether) {
  const TypePtr column = make_resized(make_basic(8), 0, 64);
  Cursor contiguous(make_basic(8), 0);
  PairReader reader({1000, 8, 64, 500}, contiguous);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.pairs().count, 500);
  EXPECT_EQ(reader.pairs().memory_stride, 8);
  EXPECT_FALSE(reader.next());

  Cursor strided(column, 0);
  PairReader same({1000, 8, 32, 500}, strided);
  ASSERT_TRUE(same.next());
  EXPECT_EQ(same.pairs().count, 500);
  EXPECT_EQ(same.pairs().file_stride, 32);
  EXPECT_EQ(same.pairs().memory_stride, 64);
  EXPECT_FALSE(same.next());

  PairReader inside({1000, 4000, 4000, 1}, strided);
  ASSERT_TRUE(inside.next());
  EXPECT_EQ(inside.pairs().count, 500);
  EXPECT_EQ(inside.pairs().file_stride, 8);
  EXPECT_EQ(inside.pairs().memory_offset, 500 * 64);
  EXPECT_FALSE(inside.next());
}

TEST(ViewCopy, AbsoluteAddresses) {
  Bytes memory = pattern_bytes(32);
  Bytes file(32);
  Cursor file_cursor(make_basic(1), 0, 32);
  Cursor memory_cursor(make_basic(1), reinterpret_cast<std::intptr_t>(memory.data()), 32);
  EXPECT_EQ(copy(Direction::write, {file.data(), 0}, file_cursor, 32, nullptr, memory_cursor, 32),
            32);
  EXPECT_EQ(file, memory);
}

TEST(ViewCopy, EndsWhereAnySideEnds) {
  Bytes memory = pattern_bytes(32);
  Bytes file(32);
  const TypePtr number = make_basic(4);
  const auto moved = [&](ByteCount file_limit, FileOffset end, ByteCount memory_limit,
                         ByteCount limit) {
    Cursor file_cursor(number, 0, file_limit);
    Cursor memory_cursor(number, 0, memory_limit);
    return copy(Direction::write, {file.data(), 0}, file_cursor, end, memory.data(), memory_cursor,
                limit);
  };
  EXPECT_EQ(moved(7, 32, 32, 32), 7);
  EXPECT_EQ(moved(32, 9, 32, 32), 9);
  EXPECT_EQ(moved(32, 32, 11, 32), 11);
  EXPECT_EQ(moved(32, 32, 32, 13), 13);
  EXPECT_EQ(moved(32, 32, 32, 0), 0);
  EXPECT_EQ(moved(32, -5, 32, 32), 0);
}

}  // namespace
}  // namespace headrace::view::test
