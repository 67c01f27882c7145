#include <gtest/gtest.h>

#include <cstring>

#include "engine/direct_transfer.h"
#include "unit/type_model.h"

namespace headrace::engine {
namespace {

using view::test::Pair;
using view::test::TypeGenerator;

/// A file in memory that counts its calls.
class MemoryStore : public storage::Store {
 public:
  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return move(offset, segments, false);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return move(offset, segments, true);
  }
  Result<ByteCount> size() override { return std::ssize(bytes); }
  Error resize(ByteCount) override { return {}; }
  Error allocate(ByteCount) override { return {}; }
  Error lock(FileOffset, FileOffset, storage::LockMode) override { return {}; }
  Result<bool> try_lock(FileOffset, FileOffset, storage::LockMode) override { return true; }
  Error sync() override { return {}; }
  Error close() override { return {}; }

  std::vector<char> bytes;
  int calls = 0;

 private:
  Transferred move(FileOffset offset, std::span<const iovec> segments, bool writes) {
    ++calls;
    Transferred done;
    for (const iovec& segment : segments) {
      const FileOffset at = offset + done.bytes;
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
    const Pair filetype = files.make(static_cast<int>(files.number(0, 3)));
    const Pair memory = memories.make(static_cast<int>(files.number(0, 3)));
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

    MemoryStore store;
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
  MemoryStore store;
  store.bytes.assign(64'000, 'x');
  std::vector<char> data(8'000);
  EXPECT_EQ(direct_transfer(store, columns(Direction::read, data, 8, 64), 1 << 20).bytes, 8'000);
  EXPECT_EQ(store.calls, 1);
}

TEST(DirectTransfer, DoesNotReadAGapOfTheSieve) {
  MemoryStore store;
  store.bytes.assign(1'000'000, 'x');
  std::vector<char> data(80);
  EXPECT_EQ(direct_transfer(store, columns(Direction::read, data, 8, 100'000), 4'096).bytes, 80);
  EXPECT_EQ(store.calls, 10);
}

TEST(DirectTransfer, WritesPiecesThatMeetByOneCall) {
  MemoryStore store;
  std::vector<char> data(64'000, 'x');
  EXPECT_EQ(direct_transfer(store, columns(Direction::write, data, 8, 8), 1 << 20).bytes, 64'000);
  EXPECT_EQ(store.calls, 1);
}

}  // namespace
}  // namespace headrace::engine
