#include <gtest/gtest.h>

#include <atomic>
#include <barrier>

#include "base/memory_account.h"
#include "base/settings.h"
#include "sim/allocations.h"
#include "sim/nodes_job.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

// Memory of collective calls with few and with very many pieces.

namespace headrace::sim {
namespace {

constexpr int kRanks = 4;

/// What all ranks of the job take together, since they are threads of one process.
struct Taken {
  ByteCount buffers = 0;
  ByteCount pieces = 0;
};

/// Every rank writes and reads irregular pieces of 7 and 8 bytes, all of them interleaved.
Taken write_and_read(std::int64_t count) {
  Disk disk(0);
  const ByteCount pieces_before = memory_taken(MemoryUse::pieces).now;
  run_ranks(std::vector<std::string>(kRanks, "a"), disk,
            [count](int rank, const auto& team, storage::FileSystem& files) {
              auto file = file::File::open(
                  team, files, "file", {.read = true, .write = true, .create = true},
                  {{"headrace_write_path", "staged"}, {"headrace_read_path", "staged"}});
              ASSERT_TRUE(file);
              UnclearedVector<std::int64_t> lengths;
              UnclearedVector<std::int64_t> offsets;
              lengths.reserve(static_cast<std::size_t>(count) + 1);
              offsets.reserve(static_cast<std::size_t>(count));
              ByteCount bytes = 0;
              for (std::int64_t i = 0; i < count; ++i) {
                lengths.push_back(7 + i % 2);
                offsets.push_back((i * kRanks + rank) * 9 + i % 2);
                bytes += lengths.back();
              }
              const view::TypePtr byte = view::make_basic(1);
              ASSERT_FALSE(file.value()->set_view(file::View{
                  0, byte, view::take_hindexed(std::move(lengths), std::move(offsets), byte)}));
              Bytes data(static_cast<std::size_t>(bytes), static_cast<std::uint8_t>(rank + 1));
              for (const Direction direction : {Direction::write, Direction::read}) {
                const auto outcome =
                    file.value()->transfer({direction, true, 0, data.data(), bytes, byte});
                EXPECT_EQ(outcome.bytes, bytes) << outcome.error.message;
              }
              EXPECT_EQ(file.value()->hints().at("headrace_write_taken"), "staged");
              EXPECT_FALSE(file.value()->close());
            });
  return {memory_taken(MemoryUse::buffers).peak,
          memory_taken(MemoryUse::pieces).peak - pieces_before};
}

TEST(Memory, DoesNotGrowWithPiecesButForTheirList) {
  const Watchdog watchdog("Memory.DoesNotGrowWithPieces", kCaseLimit);
  // Where messages failed, in other cases, their buffers were left to the MPI library.
  const ByteCount left_behind = memory_taken(MemoryUse::buffers).now;
  const Taken few = write_and_read(10'000);
  EXPECT_GT(few.buffers, 0);
  EXPECT_LE(few.buffers, settings().node_memory);
  const Taken many = write_and_read(1'000'000);
  EXPECT_EQ(many.buffers, few.buffers);
  // Each rank has its own list, once.
  EXPECT_LE(many.pieces, kRanks * (16 * ByteCount{1'000'000} + 10'000));
  EXPECT_EQ(memory_taken(MemoryUse::buffers).now, left_behind);
  EXPECT_EQ(memory_taken(MemoryUse::pieces).now, 0);
}

/// What a node's leaders take for messages is within the node's memory, whoever of them takes it.
TEST(Memory, OfAllLeadersIsCounted) {
  if (settings().verify) GTEST_SKIP() << "who verifies takes memory besides";
  const Watchdog watchdog("Memory.OfAllLeadersIsCounted", kCaseLimit);
  constexpr ByteCount kBeside = 100'000;  // plans, requests
  const Job job{2, 2, 8, true, 2};
  const ByteCount before = memory_taken(MemoryUse::buffers).now;
  Disk disk(0);
  std::atomic<ByteCount> allocated = 0;
  std::barrier barrier(job.ranks());
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    Bytes data = job.data(rank);
    const ByteCount earlier = allocated_by_thread();
    EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    allocated += allocated_by_thread() - earlier;
    barrier.arrive_and_wait();
    EXPECT_LE(allocated, memory_taken(MemoryUse::buffers).now - before + kBeside);
    barrier.arrive_and_wait();
    EXPECT_FALSE(file->close());
  });
}

}  // namespace
}  // namespace headrace::sim
