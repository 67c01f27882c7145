#include <gtest/gtest.h>

#include <map>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"
#include "storage/kinds.h"

// Requests for a file system's locks before windows are written, as Lustre takes them. The store
// records them: whether Lustre's servers grant what is asked for only Lustre can show.

namespace headrace::sim {
namespace {

constexpr std::uint64_t kLustre = 0x0bd00bd0;
constexpr std::uint64_t kGpfs = 0x47504653;

storage::Layout layout_on(std::uint64_t magic) {
  return {.kind = storage::find_kind(magic, ""), .is_coherent = true};
}

/// What is asked of the disk in two calls; all of the file is written in each.
std::vector<Disk::Event> events_of(const Job& job, const storage::Layout& layout,
                                   const file::Hints& more) {
  Disk disk(0);
  disk.pretend(layout);
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    file::Hints hints = hints_of(job);
    hints.insert(more.begin(), more.end());
    const auto file = open(job, rank, team, files, hints);
    if (rank == 0) disk.watch();
    Bytes data = job.data(rank);
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    }
    EXPECT_FALSE(file->close());
  });
  return disk.events();
}

std::int64_t requests(const std::vector<Disk::Event>& events) {
  return std::ranges::count(events, false, &Disk::Event::is_write);
}

TEST(LockAhead, OwnersAskForEachWindowBeforeTheyWriteIt) {
  for (const Job& job : {Job{3, 2, 30}, Job{2, 3, 30, true, 2}}) {
    const Watchdog watchdog("LockAhead.OwnersAskForEachWindowBeforeTheyWriteIt", kCaseLimit);
    const plan::ExchangePlan plan = job.plan(Direction::write);
    const std::vector<Disk::Event> events =
        events_of(job, layout_on(kLustre), {{"headrace_lock_ahead", "true"}});
    std::map<std::int64_t, std::int64_t> asked;
    std::map<std::int64_t, std::int64_t> written;
    for (const Disk::Event& event : events) {
      const std::int64_t window = plan.windows().window_of(event.begin);
      EXPECT_EQ(job.node_of(event.rank), plan.owner_of(window));
      if (event.is_write) {
        EXPECT_LT(written[window]++, asked[window]) << "window " << window;
      } else {
        asked[window] += 1;
        EXPECT_EQ(event.begin, plan.windows().range(window).begin);
        EXPECT_EQ(event.end, plan.windows().range(window).end);
      }
    }
    EXPECT_EQ(std::ssize(asked), plan.count());
    for (const auto& [window, times] : asked) EXPECT_EQ(times, 2) << "window " << window;
  }
}

TEST(LockAhead, IsAskedForOnlyByHintAndWhereTheFileSystemCan) {
  const Watchdog watchdog("LockAhead.IsAskedForOnlyByHintAndWhereTheFileSystemCan", kCaseLimit);
  const Job job{2, 2, 10};
  const file::Hints wish{{"cray_cb_write_lock_mode", "2"}};
  EXPECT_GT(requests(events_of(job, layout_on(kLustre), wish)), 0);
  EXPECT_EQ(requests(events_of(job, layout_on(kLustre), {})), 0);
  EXPECT_EQ(requests(events_of(job, layout_on(kLustre), {{"cray_cb_write_lock_mode", "1"}})), 0);
  EXPECT_EQ(requests(events_of(job, layout_on(kGpfs), wish)), 0);
}

}  // namespace
}  // namespace headrace::sim
