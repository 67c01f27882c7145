#include <gtest/gtest.h>

#include <cerrno>

#include "sim/runner.h"
#include "sim/watchdog.h"

// What the first rank finds about the file's layout reaches all ranks.

namespace headrace::sim {
namespace {

constexpr engine::AccessMode kCreate{.read = true, .write = true, .create = true};

engine::Hints hints_on_rank(const storage::Layout& layout, const engine::Hints& given, int which) {
  const Watchdog watchdog("layouts", std::chrono::seconds(60));
  Disk disk(0);
  disk.pretend(layout);
  engine::Hints found;
  run_ranks({"a", "a", "b"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    auto file = engine::File::open(team, files, "file", kCreate, given);
    ASSERT_TRUE(file) << file.error().message;
    if (rank == which) found = file.value()->hints();
    EXPECT_FALSE(file.value()->close());
  });
  return found;
}

TEST(Layouts, AreToldToAllRanks) {
  const storage::Layout layout{.kind = 1,
                               .is_coherent = true,
                               .stripes = {1 << 20, 4},
                               .outcome = storage::StripingOutcome::refused,
                               .system_error = EINVAL};
  for (int rank = 0; rank < 3; ++rank) {
    const engine::Hints hints = hints_on_rank(layout, {}, rank);
    EXPECT_EQ(hints.at("striping_unit"), "1048576");
    EXPECT_EQ(hints.at("striping_factor"), "4");
    EXPECT_EQ(hints.at("headrace_file_system"), "lustre");
    EXPECT_EQ(hints.at("headrace_striping"), "not applied (lustre refused it: Invalid argument)");
    EXPECT_EQ(hints.at("cb_buffer_size"), "1048576");
  }
}

TEST(Layouts, OfTheFileSystemCountMoreThanHints) {
  const engine::Hints given{{"striping_unit", "131072"}, {"cb_buffer_size", "65536"}};
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 19, 4}}, given, 2).at("cb_buffer_size"), "524288");
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 19, 4}}, given, 2).at("striping_unit"), "524288");
  EXPECT_EQ(hints_on_rank({}, given, 2).at("cb_buffer_size"), "131072");
  EXPECT_EQ(hints_on_rank({.stripes = {1000, 4}}, given, 2).at("cb_buffer_size"), "131072")
      << "stripes that are no whole pages are not followed";
}

TEST(Layouts, WithLargeStripesLeaveMemoryForAnotherFile) {
  // A file's buffers take at most half of HEADRACE_NODE_MEMORY.
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 26, 4}}, {}, 1).at("cb_buffer_size"), "4194304");
}

}  // namespace
}  // namespace headrace::sim
