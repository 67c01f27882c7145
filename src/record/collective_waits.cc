#include "record/collective_waits.h"

#include <algorithm>
#include <ctime>
#include <new>

#include "record/extent_items.h"

namespace headrace::record {
namespace {

// Calls that are judged at a time: what is read then is still changed by its owner, so each time
// costs both a trip of some lines of memory.
constexpr std::uint64_t kAtATime = 64;
constexpr std::int64_t kAtLeastEvery = std::int64_t{1} << 29;  // ticks
constexpr int kMostSearches = 64;
constexpr int kLastAttempts = 20;
constexpr timespec kBetweenAttempts{0, 100'000};

const EntryLog* find_log(const EntryLogs& logs, std::uint64_t id) {
  for (const EntryLog& each : logs.logs) {
    if (each.id.load(std::memory_order_acquire) == id) return &each;
  }
  return nullptr;
}

}  // namespace

CollectiveWaits::CollectiveWaits(ImageFile& image, EntryLogs& logs)
    : logs_(logs), images_(image), tables_(image) {}

std::unique_ptr<CollectiveWaits> CollectiveWaits::make(ImageFile& image) {
  auto* const logs = take_logs<EntryLogs>(image, ExtentKind::entry_logs, image.header().entry_logs);
  return std::unique_ptr<CollectiveWaits>(logs == nullptr ? nullptr
                                                          : new CollectiveWaits(image, *logs));
}

/// Its place is a free one, else that of the communicator which was freed first.
std::size_t CollectiveWaits::take_place() {
  std::size_t found = communicators_.size();
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    if (communicators_[i] == nullptr) return i;
    if (communicators_[i]->freed == 0) continue;
    if (found == communicators_.size() || communicators_[i]->freed < communicators_[found]->freed) {
      found = i;
    }
  }
  if (found < communicators_.size()) judge(*communicators_[found], true);
  return found;
}

int CollectiveWaits::open(std::uint32_t thread, std::uint64_t id,
                          std::span<const std::int32_t> members, int own) noexcept {
  if (is_stopped_.load(std::memory_order_relaxed) || !thread_.is(thread)) return kNoLog;
  try {
    auto made = std::make_unique<Communicator>();
    made->id = id;
    made->own = own;
    made->members.assign(members.begin(), members.end());
    made->logs.resize(members.size());
    if (entries_.size() < members.size()) entries_.resize(members.size());
    const std::size_t place = take_place();
    if (place == communicators_.size()) return kNoLog;
    logs_.logs[place].begin(id);
    communicators_[place] = std::move(made);
    return static_cast<int>(place);
  } catch (const std::bad_alloc&) {
    return kNoLog;
  }
}

void CollectiveWaits::close(int log, std::uint32_t thread) noexcept {
  if (!thread_.is(thread)) stop();
  if (is_stopped_.load(std::memory_order_relaxed)) return;
  Communicator& communicator = *communicators_[static_cast<std::size_t>(log)];
  communicator.freed = ++frees_;
  judge(communicator, false);
}

void CollectiveWaits::add(int log, std::uint32_t thread, const MetCall& call,
                          const Row& row) noexcept {
  if (is_stopped_.load(std::memory_order_relaxed)) return;
  if (!thread_.is(thread)) {
    stop();
    return;
  }
  Communicator& communicator = *communicators_[static_cast<std::size_t>(log)];
  if (!communicator.is_followed) return;
  const std::uint64_t number = communicator.calls++;
  communicator.pending[number % EntryLog::kKept] = {call, &row};
  logs_.logs[static_cast<std::size_t>(log)].add({call.begin, number, call.mark});
  if (communicator.calls % kAtATime == 0 || call.end - communicator.judged_at > kAtLeastEvery) {
    communicator.judged_at = call.end;
    judge(communicator, false);
  }
}

/// Of members that have not come to their first call there is none. Those on other nodes never have
/// one.
void CollectiveWaits::find_logs(Communicator& communicator) {
  if (communicator.has_all_logs) return;
  communicator.has_all_logs = true;
  for (std::size_t i = 0; i < communicator.members.size(); ++i) {
    if (communicator.logs[i] != nullptr) continue;
    const EntryLogs* const theirs = images_.entry_logs(communicator.members[i]);
    if (theirs != nullptr) communicator.logs[i] = find_log(*theirs, communicator.id);
    if (communicator.logs[i] == nullptr) communicator.has_all_logs = false;
    if (theirs == nullptr && ++communicator.searches == kMostSearches) {
      communicator.is_followed = false;
      return;
    }
  }
}

/// False if it is not known yet.
bool CollectiveWaits::judge_next(Communicator& communicator, bool gives_up) {
  const std::uint64_t number = communicator.judged;
  const Pending& next = communicator.pending[number % EntryLog::kKept];
  for (std::size_t i = 0; i < communicator.members.size(); ++i) {
    const EntryLog* const log = communicator.logs[i];
    entries_[i] = log != nullptr ? log->find(number) : std::nullopt;
    // It may be another communicator's by now.
    if (log != nullptr && log->id.load(std::memory_order_acquire) != communicator.id) {
      entries_[i] = std::nullopt;
    }
    if (entries_[i] && !entries_[i]->has_mark(next.call.mark)) {  // the ranks do not count alike
      communicator.is_followed = false;
      return false;
    }
  }
  const std::optional<WaitBounds> found =
      wait_of(next.call, communicator.own, std::span(entries_).first(communicator.members.size()),
              gives_up);
  if (!found && !gives_up) return false;
  communicator.judged += 1;
  if (!found) return true;
  const std::int64_t took = next.call.end - next.call.begin;
  if (tables_.count(thread_.number(), *next.row, took, *found) && found->awaited >= 0) {
    tables_.count_awaited(communicator.members[static_cast<std::size_t>(found->awaited)],
                          Awaited::meeting, found->least);
  }
  return true;
}

/// A call whose place is needed soon is given up.
void CollectiveWaits::judge(Communicator& communicator, bool gives_up) noexcept {
  try {
    find_logs(communicator);
    while (communicator.is_followed && communicator.judged < communicator.calls) {
      const bool is_old = communicator.calls - communicator.judged + 2 * kAtATime > EntryLog::kKept;
      if (!judge_next(communicator, gives_up || is_old)) return;
    }
  } catch (const std::bad_alloc&) {
    communicator.is_followed = false;
  }
}

void CollectiveWaits::finish() noexcept {
  if (is_stopped_.load(std::memory_order_relaxed)) return;
  for (int attempt = 0; attempt < kLastAttempts; ++attempt) {
    bool has_all = true;
    for (const auto& one : communicators_) {
      if (one == nullptr) continue;
      // Who has no log by now has made no call.
      judge(*one, attempt + 1 == kLastAttempts || (attempt > 0 && !one->has_all_logs));
      has_all = has_all && (!one->is_followed || one->judged == one->calls);
    }
    if (has_all) return;
    nanosleep(&kBetweenAttempts, nullptr);
  }
}

}  // namespace headrace::record
