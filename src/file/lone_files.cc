#include "file/lone_files.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <vector>

#include "base/message.h"
#include "base/settings.h"

namespace headrace::file {
namespace {

std::atomic<int> job_size = 0;

struct Kept {
  std::mutex mutex;
  LoneReport report;  ///< of one rank; its times are sums over files
};

Kept& kept() {
  static auto& only = *new Kept;  // never destroyed: files are closed during exit, too
  return only;
}

}  // namespace

void set_job_size(int ranks) {
  job_size.store(ranks, std::memory_order_relaxed);
}

bool sums_up_lone_files() {
  return job_size.load(std::memory_order_relaxed) != 1 && settings().io_stats < 2;
}

void add_lone_file(const std::string& path, const IoSums& sums, const OwnTimes& times) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  LoneReport& own = all.report;
  if (own.sums.files == 0) {
    const std::size_t len = std::min(path.size(), own.example.size() - 1);
    std::copy_n(path.begin(), len, own.example.begin());
  }
  own.sums.ranks = 1;
  own.sums.files += 1;
  own.sums.sums.combine(sums);
  OwnTimes together = own.sums.times.sum;
  for (std::size_t i = 0; i < kIoTimes; ++i) fabric::add(together[i], times[i]);
  own.sums.times = IoTimes::of(together);
  // One rank, however many files.
  own.sums.sums.calls.active_ranks = std::min<std::int64_t>(own.sums.sums.calls.active_ranks, 1);
  for (RequestSums* const side : {&own.sums.sums.to_storage, &own.sums.sums.from_storage}) {
    side->aggregators = std::min<std::int64_t>(side->aggregators, 1);
    side->independent = std::min<std::int64_t>(side->independent, 1);
  }
}

LoneReport lone_report() {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  return all.report;
}

bool tells_lone_files() {
  return (settings().io_stats > 0 || settings().io_timers > 0) && sums_up_lone_files();
}

void print_lone_files(const LoneReport& all, const std::string& of) {
  if (all.sums.files == 0) return;
  const std::string example = all.example.data();
  std::vector<std::string> lines;
  if (settings().io_stats > 0) lines = lone_statistics_lines(example, all.sums);
  if (settings().io_timers > 0) {
    std::ranges::move(lone_timer_lines(example, all.sums), std::back_inserter(lines));
  }
  if (!of.empty()) lines.push_back("  these are of " + of);
  print_messages(lines);
}

}  // namespace headrace::file
