#include "profile/sample_collector.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/message.h"
#include "record/record_switch.h"
#include "record/switch_log.h"

namespace headrace::profile {
namespace {

constexpr std::size_t kMostThreads = 2048;
constexpr int kScansBetweenMasks = 10;  // of the signals that threads block

}  // namespace

SampleCollector::SampleCollector(record::ImageFile& image, const SamplingPlan& plan, void (*wake)())
    : plan_(plan),
      own_(static_cast<pid_t>(::syscall(SYS_gettid))),
      now_(begin_),
      wake_(wake),
      store_(image),
      interpreter_(plan_.python ? find_interpreter() : AddressRange()) {}

SampledThread* SampleCollector::free_thread() {
  for (SampledThread& thread : threads_) {
    if (thread.id == 0) return &thread;
  }
  if (threads_.size() == kMostThreads) return nullptr;
  SampledThread& made = threads_.emplace_back();
  if (made.ring.has_memory()) return &made;
  threads_.pop_back();
  return nullptr;
}

/// A thread that blocks our signal is left alone: it may wait for any signal that comes.
void SampleCollector::arm_unless_blocked(SampledThread& thread) {
  if (signal_ == 0 || thread.perf.is_open()) return;
  const bool is_blocked = blocks_signal(thread.id, signal_);
  if (is_blocked && thread.has_timer) disarm(thread);
  if (is_blocked || thread.has_timer) return;
  const bool by_wall = plan_.source == record::SampleSource::wall;
  const bool is_armed = arm(thread, by_wall ? TimerClock::wall : TimerClock::cpu);
  // EINVAL: the thread has ended meanwhile.
  if (!is_armed && errno != EINVAL) {
    print_message_once(
        "some threads are not sampled (timer_create: " + std::string(std::strerror(errno)) +
        "), raise the limit of pending signals (ulimit -i)");
  }
}

/// By perf_event, or by signals where the kernel has none.
record::SampleSource SampleCollector::start(SampledThread& thread) {
  using record::SampleSource;
  if (plan_.source == SampleSource::perf) {
    if (thread.perf.open(thread.id, plan_.period, plan_.stack_size) || !plan_.may_signal) {
      return SampleSource::perf;
    }
  }
  const bool by_wall = plan_.source == SampleSource::wall;
  if (signal_ == 0) {
    signal_ = take_signal({plan_.stack_size, wake_, plan_.python ? &*plan_.python : nullptr});
  }
  if (signal_ == 0) {
    print_message_once(
        "no samples are taken (the program uses all real-time signals), set "
        "HEADRACE_SAMPLING_SOURCE=perf if the kernel allows that");
  }
  arm_unless_blocked(thread);
  return by_wall ? SampleSource::wall : SampleSource::timer;
}

void SampleCollector::begin(pid_t id) {
  SampledThread* const thread = free_thread();
  if (thread == nullptr) return;
  thread->place = store_.add_thread(name_of_thread(id), plan_.source, plan_.period);
  if (thread->place == record::kNone) return;
  thread->id = id;
  thread->is_seen = true;
  thread->ring.clear();
  thread->record = nullptr;
  thread->regions = nullptr;
  thread->stack_begin = 0;
  thread->stack_end = 0;
  thread->unknown_stack = 0;
  thread->period = plan_.period;
  thread->cpu = cpu_time_of(id);
  by_id_[id] = thread;
  store_.thread(thread->place).source = static_cast<std::uint32_t>(start(*thread));
}

void SampleCollector::end(SampledThread& thread) {
  disarm(thread);
  thread.perf.close();
  by_id_.erase(thread.id);
  thread.id = 0;
}

/// The image has the thread's number in `calls` from the first time on at which it is known.
void SampleCollector::tell(SampledThread& thread, const KnownThread& known) {
  if (thread.record.load(std::memory_order_relaxed) != known.record) {
    thread.record.store(known.record, std::memory_order_release);
    thread.regions = known.regions;
    if (known.record != nullptr) store_.thread(thread.place).caller = known.record->number();
  }
  if (known.stack.end != 0 && thread.stack_end.load(std::memory_order_relaxed) == 0) {
    thread.stack_may_go = false;
    thread.stack_begin.store(known.stack.begin, std::memory_order_release);
    thread.stack_end.store(known.stack.end, std::memory_order_release);
  }
}

/// A thread whose samples lie on a stack that we do not know.
void SampleCollector::learn_stack(SampledThread& thread) {
  const std::uintptr_t address = thread.unknown_stack.exchange(0);
  if (address == 0 || thread.stack_end.load(std::memory_order_relaxed) != 0) return;
  const AddressRange found = mapping_of(address);
  thread.stack_may_go = true;
  thread.stack_begin.store(found.begin, std::memory_order_release);
  thread.stack_end.store(found.end, std::memory_order_release);
}

void SampleCollector::find_threads(const std::unordered_map<pid_t, KnownThread>& known) {
  const std::vector<pid_t> now = tasks_.list();
  if (now.empty()) return;
  const bool looks_at_masks = ++scans_ % kScansBetweenMasks == 0;
  for (SampledThread& thread : threads_) thread.is_seen = false;
  for (const pid_t id : now) {
    if (id == own_) continue;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) {
      begin(id);
    } else {
      found->second->is_seen = true;
    }
  }
  for (SampledThread& thread : threads_) {
    if (thread.id == 0) continue;
    const auto told = known.find(thread.id);
    tell(thread, told == known.end() ? KnownThread{} : told->second);
    learn_stack(thread);
    update(thread);
    if (looks_at_masks) arm_unless_blocked(thread);
  }
  const auto has_ended = [](const SampledThread& one) { return one.id != 0 && !one.is_seen; };
  if (std::ranges::none_of(threads_, has_ended)) return;
  collect();  // what they left
  for (SampledThread& thread : threads_) {
    if (has_ended(thread)) end(thread);
  }
}

void SampleCollector::update(SampledThread& thread) {
  record::SampledThread& item = store_.thread(thread.place);
  item.lost = thread.ring.lost() + thread.perf.lost();
  const std::int64_t now = cpu_time_of(thread.id);
  if (now < 0) return;
  if (!record::is_switched_off.load(std::memory_order_relaxed) && thread.cpu >= 0) {
    item.cpu += std::max<std::int64_t>(now - thread.cpu, 0);
  }
  thread.cpu = now;
}

std::int64_t SampleCollector::ticks_at(std::int64_t ns) const noexcept {
  const auto before = static_cast<double>(now_.ns - ns) / record::tick_length(begin_, now_);
  return now_.ticks - static_cast<std::int64_t>(before);
}

/// The next sample that counts.
bool SampleCollector::take_next(SampledThread& thread, Ready& ready) noexcept {
  PerfSample told;
  while (thread.perf.next(told)) {
    const std::int64_t when = ticks_at(told.when);
    if (record::was_switched_off(when)) continue;
    ready.region = thread.regions == nullptr ? 0 : thread.regions->at(when).value_or(0);
    ready.time = told.time;
    unwinder_.unwind(told.registers, told.stack, ready.frames);
    ready.python.count = 0;
    return true;
  }
  StackCopy stack;
  const RawSample* const sample = thread.ring.first(stack, ready.python);
  if (sample == nullptr) return false;
  ready.region = sample->region;
  ready.time = sample->time;
  unwinder_.unwind(sample->registers, stack, ready.frames);
  thread.ring.drop();
  return true;
}

/// While no object can be unloaded: it takes no memory and waits for nobody.
void SampleCollector::unwind_batch() noexcept {
  for (std::size_t looked = 0; looked < threads_.size() && ready_count_ < kBatch; ++looked) {
    SampledThread& thread = threads_[next_++ % threads_.size()];
    while (ready_count_ < kBatch && take_next(thread, ready_[ready_count_])) {
      ready_[ready_count_++].thread = &thread;
    }
  }
}

std::vector<std::uintptr_t> SampleCollector::path_of(const Ready& ready) {
  const std::span<const std::uintptr_t> native{ready.frames.addresses.data(), ready.frames.depth};
  if (!plan_.python || ready.python.count == 0) return {native.begin(), native.end()};
  std::vector<std::uintptr_t> words;
  for (const PythonFrame& frame : ready.python.all()) {
    words.push_back(store_.python().word_of(*plan_.python, frame));
  }
  return merged_path(native, ready.frames.is_whole, ready.python, words, interpreter_);
}

void SampleCollector::store_batch() {
  for (std::size_t i = 0; i < ready_count_; ++i) {
    const Ready& ready = ready_[i];
    const std::uint32_t place = ready.thread->place;
    if (place == record::kNone) continue;
    store_.add(place, ready.region, path_of(ready), ready.time);
    if (!ready.frames.is_whole) store_.thread(place).cut += 1;
  }
}

void SampleCollector::collect() {
  if (ready_.most() == 0) return;
  now_ = record::read_clock();
  const auto work = [](void* self) noexcept {
    static_cast<SampleCollector*>(self)->unwind_batch();
  };
  do {
    ready_count_ = 0;
    if (threads_.empty() || !code_.with_objects_held(work, this)) return;
    if (unloads_ != code_.unloads()) {
      // Another object may lie where one was.
      unloads_ = code_.unloads();
      store_.forget_addresses();
    }
    store_batch();
  } while (ready_count_ == kBatch);
}

void SampleCollector::stop() {
  let_signals_sample(false);
  for (SampledThread& thread : threads_) {
    if (thread.id == 0) continue;
    disarm(thread);
    update(thread);
  }
  collect();
  close();
}

void SampleCollector::close() noexcept {
  let_signals_sample(false);
  for (SampledThread& thread : threads_) {
    disarm(thread);
    thread.perf.close();
  }
}

}  // namespace headrace::profile
