#include "record/node_ranks.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/no_cancellation.h"
#include "record/recorder.h"

namespace headrace::record {
namespace {

// How often the images are listed where no launcher tells how many ranks there are. By then all
// have come.
constexpr int kMostListings = 64;

struct Known {
  std::mutex mutex;
  std::unordered_set<std::int32_t> ranks;
  int listings = 0;
};

Known& known() {
  static auto& only = *new Known;  // never destroyed: calls arrive during exit, too
  return only;
}

struct Close {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// The N of rank-N; -1 if it is no such name.
std::int32_t rank_of(std::string_view name) {
  constexpr std::string_view kBegin = "rank-";
  if (!name.starts_with(kBegin)) return -1;
  name.remove_prefix(kBegin.size());
  std::int32_t rank = -1;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), rank);
  return failed == std::errc() && end == name.data() + name.size() ? rank : -1;
}

void list_ranks(std::unordered_set<std::int32_t>& ranks) {
  const NoCancellation uncancelled;
  const int error_before = errno;
  for (const std::string& place : own_directories()) {
    const std::string job = place + "/" + job_mark().name();
    const std::unique_ptr<DIR, Close> opened(::opendir(job.c_str()));
    if (opened == nullptr) continue;
    while (const dirent* const entry = ::readdir(opened.get())) {
      const std::int32_t rank = rank_of(entry->d_name);
      if (rank >= 0) ranks.insert(rank);
    }
  }
  errno = error_before;
}

/// Whether ranks of a node have one directory.
bool share_directory(const JobMark& job) {
  return job.process.number != 0 && job.process.number != ::getpid();
}

}  // namespace

int count_on_node(std::span<const std::int32_t> ranks) {
  const JobMark& job = job_mark();
  if (!share_directory(job)) return -1;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const bool is_whole =
      job.ranks_on_node > 0 && all.ranks.size() >= static_cast<std::size_t>(job.ranks_on_node);
  if (!is_whole && all.listings < kMostListings) {
    ++all.listings;
    list_ranks(all.ranks);
  }
  const auto found =
      std::ranges::count_if(ranks, [&](std::int32_t one) { return all.ranks.contains(one); });
  return static_cast<int>(found);
}

}  // namespace headrace::record
