#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "file/direct_transfer.h"
#include "steps/engine/make_type.h"
#include "steps/type_generator.h"
#include "unit/bare_store.h"

namespace headrace::file {
namespace {

using steps::Pair;
using steps::TypeGenerator;

/// A file in memory that counts its calls.
class CountedFile : public BareStore {
 public:
  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return move(offset, segments, false);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return move(offset, segments, true);
  }
  Result<ByteCount> size() override { return std::ssize(bytes); }

  std::vector<char> bytes;
  int calls = 0;
  FileOffset bad_byte = -1;  ///< reads of it fail

 private:
  Transferred move(FileOffset offset, std::span<const iovec> segments, bool writes) {
    ++calls;
    Transferred done;
    for (const iovec& segment : segments) {
      const FileOffset at = offset + done.bytes;
      if (!writes && bad_byte >= at && bad_byte < at + static_cast<ByteCount>(segment.iov_len)) {
        done.system_error = EIO;
        return done;
      }
      const auto end = static_cast<std::size_t>(at) + segment.iov_len;
      if (writes && end > bytes.size()) bytes.resize(end, '.');
      const ByteCount len =
          std::min(static_cast<ByteCount>(segment.iov_len), std::ssize(bytes) - at);
      if (len <= 0) break;
      char* const place = bytes.data() + at;
      std::memcpy(writes ? static_cast<void*>(place) : segment.iov_base,
                  writes ? segment.iov_base : static_cast<void*>(place),
                  static_cast<std::size_t>(len));
      done.bytes += len;
    }
    return done;
  }
};

constexpr ByteCount kSmallSieve = 4'096;

class DirectTransfer : public testing::TestWithParam<bool> {};

TEST_P(DirectTransfer, MovesExactlyTheBytesOfRandomTypes) {
  const bool ascending = GetParam();
  TypeGenerator files(11, ascending);
  TypeGenerator memories(12, true);
  for (int turn = 0; turn < 1'500; ++turn) {
    const Pair filetype = pair_of(files.make(static_cast<int>(files.number(0, 3))));
    const Pair memory = pair_of(memories.make(static_cast<int>(files.number(0, 3))));
    const std::int64_t count = files.number(1, 40);
    const ByteCount bytes = count * std::ssize(memory.model.offsets);
    if (filetype.model.offsets.empty() || bytes == 0) continue;
    const std::int64_t tiles = bytes / std::ssize(filetype.model.offsets) + 1;
    const FileOffset origin = 200'000;
    std::vector<std::int64_t> offsets = filetype.model.repeated(tiles, origin);
    offsets.resize(static_cast<std::size_t>(bytes));
    const std::vector<std::int64_t> places = memory.model.repeated(count);
    std::vector<char> buffer(static_cast<std::size_t>(*std::ranges::max_element(places) + 1));
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      buffer[i] = static_cast<char>('a' + (i * 7 + static_cast<std::size_t>(turn)) % 26);
    }
    const auto access = [&](Direction direction, std::vector<char>& data) {
      return Access{direction, view::Cursor(filetype.type, origin),
                    view::Cursor(memory.type, 0, bytes), reinterpret_cast<std::byte*>(data.data()),
                    bytes};
    };

    CountedFile store;
    store.bytes.assign(static_cast<std::size_t>(files.number(0, 1) * 250'000), '#');
    std::vector<char> expected = store.bytes;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto offset = static_cast<std::size_t>(offsets[i]);
      if (offset >= expected.size()) expected.resize(offset + 1, '.');
      expected[offset] = buffer[static_cast<std::size_t>(places[i])];
    }
    const Transferred written =
        direct_transfer(store, access(Direction::write, buffer), kSmallSieve);
    ASSERT_EQ(written.bytes, bytes);
    ASSERT_EQ(store.bytes, expected) << "turn " << turn;

    // Read back what is left of a file that ends somewhere.
    store.bytes.resize(static_cast<std::size_t>(files.number(150'000, std::ssize(store.bytes))));
    std::vector<char> target(buffer.size(), '?');
    std::vector<char> wanted = target;
    ByteCount there = 0;
    while (there < bytes && offsets[static_cast<std::size_t>(there)] < std::ssize(store.bytes)) {
      const auto i = static_cast<std::size_t>(there++);
      wanted[static_cast<std::size_t>(places[i])] =
          store.bytes[static_cast<std::size_t>(offsets[i])];
    }
    const Transferred read = direct_transfer(store, access(Direction::read, target), kSmallSieve);
    ASSERT_EQ(read.bytes, there);
    ASSERT_EQ(read.system_error, 0);
    ASSERT_EQ(target, wanted) << "turn " << turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Views, DirectTransfer, testing::Bool(),
                         [](const auto& test) { return test.param ? "ascending" : "any"; });

Access columns(Direction direction, std::vector<char>& data, ByteCount piece, ByteCount stride) {
  const view::TypePtr piece_type = view::make_basic(piece);
  return {direction, view::Cursor(view::make_resized(piece_type, 0, stride), 0),
          view::Cursor(view::make_basic(1), 0, std::ssize(data)),
          reinterpret_cast<std::byte*>(data.data()), std::ssize(data)};
}

TEST(DirectTransfer, ReadsNeighbouringPiecesTogether) {
  CountedFile store;
  store.bytes.assign(64'000, 'x');
  std::vector<char> data(8'000);
  EXPECT_EQ(direct_transfer(store, columns(Direction::read, data, 8, 64), 1 << 20).bytes, 8'000);
  EXPECT_EQ(store.calls, 1);
}

TEST(DirectTransfer, DoesNotReadAGapOfTheSieve) {
  CountedFile store;
  store.bytes.assign(1'000'000, 'x');
  std::vector<char> data(80);
  EXPECT_EQ(direct_transfer(store, columns(Direction::read, data, 8, 100'000), 4'096).bytes, 80);
  EXPECT_EQ(store.calls, 10);
}

TEST(DirectTransfer, ReadsLargerPiecesByOneCallAcrossSmallGaps) {
  CountedFile store;
  store.bytes.assign(1'000'000, 'x');
  std::vector<char> data(40'000);
  Access pieces = columns(Direction::read, data, 4'000, 8'000);
  EXPECT_EQ(direct_transfer(store, pieces, 1 << 20).bytes, 40'000);
  EXPECT_EQ(store.calls, 1);
  EXPECT_EQ(data, std::vector<char>(40'000, 'x'));

  pieces = columns(Direction::read, data, 4'000, 8'097);
  store.calls = 0;
  EXPECT_EQ(direct_transfer(store, pieces, 1 << 20).bytes, 40'000);
  EXPECT_EQ(store.calls, 10) << "gaps of 4097 bytes cost more than calls";
}

TEST(DirectTransfer, ReadsScatteredMemoryByOneCall) {
  CountedFile store;
  store.bytes.assign(100'000, 'x');
  std::vector<char> data(60'000, '.');
  const view::TypePtr part = view::make_resized(view::make_basic(3'000), 0, 6'000);
  const Access scattered{Direction::read, view::Cursor(view::make_basic(1), 500),
                         view::Cursor(part, 0, 30'000), reinterpret_cast<std::byte*>(data.data()),
                         30'000};
  EXPECT_EQ(direct_transfer(store, scattered, 1 << 20).bytes, 30'000);
  EXPECT_EQ(store.calls, 1);
  EXPECT_EQ(std::ranges::count(data, 'x'), 30'000);
  EXPECT_EQ(data[2'999], 'x');
  EXPECT_EQ(data[3'000], '.');
}

/// Pieces of 3,000 bytes that begin every 5,000 bytes of a file, which is different everywhere.
class JoinedRead : public testing::Test {
 protected:
  JoinedRead() {
    store.bytes.resize(2'000'000);
    for (std::size_t i = 0; i < store.bytes.size(); ++i) {
      store.bytes[i] = static_cast<char>(i * 31 + i / 251);
    }
  }

  /// The bytes that reading gives, which must begin the pieces; others of `data` stay as they are.
  Transferred read_and_compare() {
    std::vector<char> data(900'000, '?');
    const Transferred done =
        direct_transfer(store, columns(Direction::read, data, 3'000, 5'000), 1 << 20);
    for (ByteCount i = 0; i < std::ssize(data); ++i) {
      const auto at = static_cast<std::size_t>(i / 3'000 * 5'000 + i % 3'000);
      const char wanted = i < done.bytes ? store.bytes[at] : '?';
      if (done.system_error == 0 && data[static_cast<std::size_t>(i)] != wanted) {
        ADD_FAILURE() << "byte " << i << " of " << done.bytes;
        break;
      }
    }
    return done;
  }

  CountedFile store;
};

TEST_F(JoinedRead, GivesAllPieces) {
  EXPECT_EQ(read_and_compare().bytes, 900'000);
  EXPECT_EQ(store.calls, 3) << "300 pieces, 128 a call";
}

TEST_F(JoinedRead, CountsPiecesUpToTheEndOfTheFile) {
  // The end within a piece, within a gap, and where either begins.
  for (const auto& [end, bytes] : {std::pair<std::size_t, ByteCount>{501'234, 301'234},
                                   {504'321, 303'000},
                                   {500'000, 300'000},
                                   {503'000, 303'000},
                                   {700'001, 420'001}}) {
    store.bytes.resize(2'000'000, 'z');
    store.bytes.resize(end);
    const Transferred done = read_and_compare();
    EXPECT_EQ(done.bytes, bytes) << "a file of " << end;
    EXPECT_EQ(done.system_error, 0);
  }
}

TEST_F(JoinedRead, NeedsNoByteBetweenThePieces) {
  store.bad_byte = 504'000;
  const Transferred done = read_and_compare();
  EXPECT_EQ(done.bytes, 900'000);
  EXPECT_EQ(done.system_error, 0);
}

TEST_F(JoinedRead, TellsOfAnErrorInAPiece) {
  store.bad_byte = 502'000;
  const Transferred done = read_and_compare();
  EXPECT_EQ(done.bytes, 300'000);
  EXPECT_EQ(done.system_error, EIO);
}

TEST_F(JoinedRead, ReadsMisplacedLongPiecesByThemselves) {
  std::vector<char> memory(200'000);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  char* const place = memory.data() + (4'096 - address % 4'096) + 16;
  const view::TypePtr piece = view::make_resized(view::make_basic(4'096), 0, 8'192);
  const Access misplaced{Direction::read, view::Cursor(piece, 0),
                         view::Cursor(view::make_basic(1), 0, 40'960),
                         reinterpret_cast<std::byte*>(place), 40'960};
  EXPECT_EQ(direct_transfer(store, misplaced, 1 << 20).bytes, 40'960);
  EXPECT_EQ(store.calls, 10);
  EXPECT_EQ(std::memcmp(place + 4'096, store.bytes.data() + 8'192, 4'096), 0);
}

TEST(DirectTransfer, WritesPiecesThatMeetByOneCall) {
  CountedFile store;
  std::vector<char> data(64'000, 'x');
  EXPECT_EQ(direct_transfer(store, columns(Direction::write, data, 8, 8), 1 << 20).bytes, 64'000);
  EXPECT_EQ(store.calls, 1);
}

}  // namespace
}  // namespace headrace::file
