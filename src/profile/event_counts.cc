#include "profile/event_counts.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "base/uninterrupted.h"
#include "profile/counter_sum.h"

namespace headrace::profile {
namespace {

std::uint32_t type_of(EventSource source) {
  switch (source) {
    case EventSource::hardware: return PERF_TYPE_HARDWARE;
    case EventSource::software: return PERF_TYPE_SOFTWARE;
    case EventSource::cache: return PERF_TYPE_HW_CACHE;
    default: return PERF_TYPE_RAW;
  }
}

long open_event(perf_event_attr& wanted, pid_t thread) {
  return ::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/// A descriptor, or -1. Before Linux 5.13 forked processes are counted, too.
int open_counter(const CounterEvent& event, pid_t thread) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = type_of(event.source);
  wanted.config = event.config;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  wanted.exclude_kernel = event.in_kernel ? 0 : 1;
  wanted.exclude_hv = 1;
  wanted.inherit = 1;
#ifdef PERF_ATTR_SIZE_VER7
  wanted.inherit_thread = 1;
  const long opened = open_event(wanted, thread);
  if (opened >= 0 || (errno != EINVAL && errno != E2BIG)) return static_cast<int>(opened);
  wanted.inherit_thread = 0;
#endif
  return static_cast<int>(open_event(wanted, thread));
}

std::optional<int> paranoid_level() {
  std::FILE* const file = std::fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  if (file == nullptr) return std::nullopt;
  int level = 0;
  const int found = std::fscanf(file, "%d", &level);
  std::fclose(file);
  return found == 1 ? std::optional(level) : std::nullopt;
}

/// Of the process, without this thread.
rusage usage_of_others() {
  rusage all{};
  rusage own{};
  ::getrusage(RUSAGE_THREAD, &own);
  ::getrusage(RUSAGE_SELF, &all);
  all.ru_nvcsw -= own.ru_nvcsw;
  all.ru_nivcsw -= own.ru_nivcsw;
  return all;
}

}  // namespace

EventCounts::EventCounts(record::ImageFile& image, std::vector<ChosenEvent> events) {
  const auto count = static_cast<std::uint32_t>(events.size());
  record::ExtentHeader* const extent =
      image.take(record::ExtentKind::counters, record::kNone, sizeof(record::CounterItem), count);
  if (extent == nullptr) return;
  auto* item = reinterpret_cast<record::CounterItem*>(extent + 1);
  for (ChosenEvent& event : events) {
    const std::string_view name = event.event.name;
    name.copy(item->name.data(), item->name.size() - 1);
    if (!event.is_known) item->error = ENODATA;
    counted_.push_back({std::move(event), item, {}});
    ++item;
  }
  extent->used.store(count, std::memory_order_release);
}

void EventCounts::open(Counted& one, pid_t thread) {
  HeldDescriptor opened(open_counter(one.chosen.event, thread));
  if (opened) {
    one.counters.push_back(std::move(opened));
  } else if (errno != ESRCH) {
    // A part of the threads would pass for all.
    one.item->error = static_cast<std::uint32_t>(errno);
    one.counters.clear();
  }
}

void EventCounts::begin(std::span<const pid_t> threads) {
  begin_ = record::read_clock().ns;
  usage_at_begin_ = usage_of_others();
  for (Counted& one : counted_) {
    if (!one.chosen.is_known || one.chosen.event.source == EventSource::usage) continue;
    for (const pid_t thread : threads) {
      if (one.item->error == 0) open(one, thread);
    }
    if (one.counters.empty() && one.item->error == 0) one.item->error = ESRCH;
  }
}

bool EventCounts::read(Counted& one) const {
  std::vector<CounterReading> all;
  for (const HeldDescriptor& counter : one.counters) {
    CounterReading told;
    if (!counter.is_intact()) return false;  // what was counted before stays
    if (uninterrupted([&] { return ::read(counter.get(), &told, sizeof told); }) != sizeof told) {
      return false;
    }
    all.push_back(told);
  }
  const CounterReading sum = sum_of(all);
  one.item->count = static_cast<std::int64_t>(sum.count);
  one.item->enabled = static_cast<std::int64_t>(sum.enabled);
  one.item->running = static_cast<std::int64_t>(sum.running);
  return true;
}

void EventCounts::add_usage(Counted& one, const rusage& now) const {
  const auto field = one.chosen.event.usage;
  one.item->count = now.*field - usage_at_begin_.*field;
}

void EventCounts::update() {
  const std::int64_t wall = record::read_clock().ns - begin_;
  const rusage usage = usage_of_others();
  for (Counted& one : counted_) {
    if (one.item->error != 0) continue;
    if (one.chosen.event.source == EventSource::usage) {
      add_usage(one, usage);
    } else if (!read(one)) {
      continue;
    }
    one.item->wall = wall;
  }
}

std::string EventCounts::refusals() const {
  std::map<std::string, std::string> events;  // by why
  const std::optional<int> paranoid = paranoid_level();
  for (const Counted& one : counted_) {
    if (one.item->error == 0) continue;
    std::string& names = events[why_not_counted(static_cast<int>(one.item->error),
                                                one.chosen.event.in_kernel, paranoid)];
    names += (names.empty() ? "" : ", ") + std::string(one.chosen.event.name);
  }
  std::string text;
  for (const auto& [why, names] : events) {
    text += (text.empty() ? "" : "; ") + names + ": " + why;
  }
  return text;
}

}  // namespace headrace::profile
