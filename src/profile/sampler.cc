#include "profile/sampler.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <mutex>

#include "base/message.h"
#include "base/process_mark.h"
#include "base/settings.h"
#include "base/thread.h"
#include "profile/own_descriptors.h"
#include "profile/python_places.h"
#include "profile/sample_collector.h"
#include "record/clock.h"
#include "record/own_memory.h"
#include "record/recorder.h"
#include "record/regions.h"
#include "topo/spare_cores.h"

namespace headrace::profile {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kPause = 100'000'000;  // ns, between looks at the rings and for threads
constexpr time_t kPatience = 5;               // s, for the end

/// A number on which one thread sleeps. wake() is async-signal-safe.
class WakeUp {
 public:
  void wake() noexcept {
    rung_.fetch_add(1);
    ::syscall(SYS_futex, &rung_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  void wait(std::int64_t ns) noexcept {
    const timespec most = {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
    ::syscall(SYS_futex, &rung_, FUTEX_WAIT_PRIVATE, heard_, &most, nullptr, 0);
    heard_ = rung_.load();
  }

 private:
  std::atomic<std::uint32_t> rung_ = 0;
  std::uint32_t heard_ = 0;
};

struct Sampler {
  const ProcessMark process;
  SamplingPlan plan;
  std::int64_t pause = kPause;  ///< ns, between looks at samples
  record::ImageFile* image = nullptr;
  WakeUp wake_up;
  pthread_t helper{};
  std::atomic<bool> has_helper = false;
  int ranks_on_node = 1;
  std::int64_t scanned = 0;  ///< ns, when threads were last looked for
  std::atomic<bool> is_ending = false;
  std::atomic<bool> has_news = false;  ///< a thread has told of itself
  std::mutex at_work;                  ///< held by the helper while it works; a fork waits for it
  std::mutex mutex;
  std::unordered_map<pid_t, KnownThread> known;
  std::unique_ptr<SampleCollector> collector;
};

Sampler& sampler() {
  static auto& only = *new Sampler;  // never destroyed: signals arrive during exit, too
  return only;
}

AddressRange own_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  std::size_t size = 0;
  AddressRange range;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    range.begin = reinterpret_cast<std::uintptr_t>(lowest);
    range.end = range.begin + size;
  }
  ::pthread_attr_destroy(&attributes);
  return range;
}

constinit thread_local RegionLog* own_regions = nullptr;

void note_region(std::uint32_t region) {
  if (own_regions != nullptr) own_regions->add(record::ticks(), region);
}

/// This thread, as the collector is to know it.
KnownThread own_thread(const record::ThreadRecord* own) {
  KnownThread known{own, own_stack(), std::make_shared<RegionLog>()};
  own_regions = known.regions.get();
  if (own != nullptr) note_region(own->region());
  return known;
}

/// What a thread tells when it first calls MPI, and when it ends.
void note_thread(const record::ThreadRecord* own) {
  Sampler& all = sampler();
  if (!all.process.is_here()) return;
  const auto id = static_cast<pid_t>(::syscall(SYS_gettid));
  try {
    KnownThread known = own != nullptr ? own_thread(own) : KnownThread{};
    const std::lock_guard lock(all.mutex);
    if (own != nullptr) {
      all.known[id] = std::move(known);
    } else {
      own_regions = nullptr;
      all.known.erase(id);
    }
    all.has_news = true;
    all.wake_up.wake();
  } catch (const std::bad_alloc&) {
    own_regions = nullptr;  // its samples have no region
  }
}

void wake_sampler() {
  sampler().wake_up.wake();
}

/// Looks for threads, if it is time, and takes in their samples. False: the signal is lost.
bool look(Sampler& own) {
  const std::lock_guard working(own.at_work);
  if (own.collector->has_lost_signal()) {
    print_message_once(
        "sampling has stopped (the program took over the signal that it needs), set "
        "HEADRACE_SAMPLING_SOURCE=perf if the kernel allows perf_event");
    return false;
  }
  const std::int64_t now = record::read_clock().ns;
  if (own.has_news.exchange(false) || now - own.scanned >= kPause) {
    own.scanned = now;
    std::unordered_map<pid_t, KnownThread> known;
    {
      const std::lock_guard lock(own.mutex);
      known = own.known;
    }
    own.collector->find_threads(known);
  }
  own.collector->collect();
  return true;
}

void collect_until_end(Sampler& own) {
  topo::use_spare_cores(own.ranks_on_node);
  {
    const std::lock_guard working(own.at_work);
    own.collector = std::make_unique<SampleCollector>(*own.image, own.plan, &wake_sampler);
  }
  let_signals_sample(true);
  while (!own.is_ending && look(own)) own.wake_up.wait(own.pause);
  const std::lock_guard working(own.at_work);
  own.collector->stop();
}

void give_up(Sampler& own) noexcept {
  try {
    if (own.collector != nullptr) own.collector->close();
    print_message_once("sampling has stopped (no memory is left)");
  } catch (const std::bad_alloc&) {
    // Nor is there memory for the line.
  }
}

void* run_helper(void* argument) {
  Sampler& own = *static_cast<Sampler*>(argument);
  use_own_descriptors();
  try {
    collect_until_end(own);
  } catch (const std::bad_alloc&) {
    give_up(own);
  }
  return nullptr;
}

/// The helper holds the dynamic linker's lock now and then, and a child would inherit it so.
void let_forks_wait() {
  ::pthread_atfork([] { sampler().at_work.lock(); }, [] { sampler().at_work.unlock(); },
                   [] { sampler().at_work.unlock(); });
}

/// The Python that runs in this thread, if samples can have its functions.
std::optional<record::Python> usable_python() {
  std::optional<record::Python> python = record::find_python();
  if (!python || !knows_frames() || find_interpreter().end == 0) return std::nullopt;
  // Once here, so that the dynamic linker has no work in a signal handler.
  const void* const state = python->thread_state();
  std::uintptr_t word = 0;
  if (state == nullptr || !record::read_own_memory(state, &word, sizeof word)) return std::nullopt;
  return python;
}

/// What the settings say, and the kernel allows.
void prepare(Sampler& own) {
  using record::SampleSource;
  const SamplingSourceSetting wanted = settings().sampling_source;
  SamplingPlan& plan = own.plan;
  plan.period = kSecond / settings().sampling_rate;
  plan.stack_size = static_cast<std::size_t>(settings().sampling_stack);
  plan.may_signal = wanted != SamplingSourceSetting::perf;
  if (plan.may_signal) plan.python = usable_python();
  plan.source = wanted == SamplingSourceSetting::wall    ? SampleSource::wall
                : wanted == SamplingSourceSetting::timer ? SampleSource::timer
                                                         : SampleSource::perf;
  // Frames of Python can be read in the thread alone, while it stands still.
  if (plan.python && plan.source == SampleSource::perf) plan.source = SampleSource::timer;
  if (plan.source != SampleSource::perf) return;
  own.pause = std::min(kPause, PerfRing::lasts(plan.period, plan.stack_size) * 2 / 3);
  PerfRing trial;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  if (trial.open(self, plan.period, plan.stack_size)) return;
  if (plan.may_signal) {
    plan.source = SampleSource::timer;
    own.pause = kPause;
  } else {
    print_message_once("no samples are taken (the kernel refuses perf_event: " +
                       std::string(std::strerror(errno)) + "), set HEADRACE_SAMPLING_SOURCE=timer");
  }
}

void start(Sampler& own) {
  own.image = record::image();
  if (own.image == nullptr || own.has_helper) return;
  prepare(own);
  own.known[static_cast<pid_t>(::syscall(SYS_gettid))] = own_thread(record::own_record);
  record::region_listener = &note_region;
  record::set_listener(record::Listener::sampling, &note_thread);
  block_signal_in_forks();
  let_forks_wait();  // before the signal is blocked, which the helper may be about to take
  // Reads the environment, which the program may change while the helper runs.
  own.ranks_on_node = topo::ranks_on_node();
  own.has_helper = start_thread(own.helper, &run_helper, &own);
  if (!own.has_helper) {
    print_message_once(
        "no samples are taken (no thread can be had), set HEADRACE_SAMPLING=0 to hide this line");
  }
}

}  // namespace

void start_sampling() noexcept {
  try {
    if (settings().sampling) start(sampler());
  } catch (const std::bad_alloc&) {
    // As if it were off.
  }
}

void stop_sampling() noexcept {
  if (!settings().sampling) return;
  Sampler& own = sampler();
  if (!own.process.is_here() || !own.has_helper.exchange(false)) return;
  record::set_listener(record::Listener::sampling, nullptr);
  record::region_listener = nullptr;
  own.is_ending = true;
  own.wake_up.wake();
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kPatience;
  ::pthread_timedjoin_np(own.helper, nullptr, &until);
}

}  // namespace headrace::profile
