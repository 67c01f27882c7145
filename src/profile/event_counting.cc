#include "profile/event_counting.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <new>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "base/message.h"
#include "base/process_mark.h"
#include "base/settings.h"
#include "base/task_directory.h"
#include "base/thread.h"
#include "profile/event_counts.h"
#include "profile/own_descriptors.h"
#include "record/recorder.h"
#include "topo/spare_cores.h"

namespace headrace::profile {
namespace {

constexpr std::chrono::milliseconds kPause{100};  // a kill loses what came since
constexpr time_t kPatience = 5;                   // s, for the beginning and the end

struct Counting {
  const ProcessMark process;
  record::ImageFile* image = nullptr;
  std::vector<ChosenEvent> events;
  std::string refusals;
  int ranks_on_node = 1;
  pthread_t helper{};
  std::atomic<bool> has_helper = false;
  std::counting_semaphore<2> begun{0};
  std::binary_semaphore ending{0};
};

Counting& counting() {
  static auto& only = *new Counting;  // never destroyed: the helper may outlive the program
  return only;
}

std::vector<pid_t> threads_but_this() {
  std::vector<pid_t> threads = TaskDirectory().list();
  std::erase(threads, static_cast<pid_t>(::syscall(SYS_gettid)));
  return threads;
}

void count_until_end(Counting& own) {
  EventCounts counts(*own.image, std::move(own.events));
  counts.begin(threads_but_this());
  counts.update();
  own.refusals = counts.refusals();
  own.begun.release();
  topo::use_spare_cores(own.ranks_on_node);
  while (!own.ending.try_acquire_for(kPause)) counts.update();
  counts.update();
}

void* run_helper(void* argument) {
  Counting& own = *static_cast<Counting*>(argument);
  use_own_descriptors();
  try {
    count_until_end(own);
  } catch (const std::bad_alloc&) {
    own.begun.release();  // for whoever may still wait
  }
  return nullptr;
}

/// What is worked out later needs to know the processor.
void note_processor(record::ImageFile& image, const Processor& processor) {
  const std::string text = processor.vendor + " " + std::to_string(processor.family) + " " +
                           std::to_string(processor.model);
  const std::array<std::string_view, 2> fields = {"processor", text};
  image.note(record::NoteKind::fact, fields);
}

void start(Counting& own) {
  own.image = record::image();
  if (own.image == nullptr || own.has_helper) return;
  const std::optional<Processor> processor = own_processor();
  if (processor) note_processor(*own.image, *processor);
  own.events = events_of(settings().counters, processor);
  // Reads the environment, which the program may change while the helper runs.
  own.ranks_on_node = topo::ranks_on_node();
  own.has_helper = start_thread(own.helper, &run_helper, &own);
  if (!own.has_helper) {
    print_message_once(
        "nothing is counted (no thread can be had), set HEADRACE_COUNTERS=off to hide this line");
    return;
  }
  // A filter of system calls may have ended the helper.
  if (!own.begun.try_acquire_for(std::chrono::seconds(kPatience))) {
    print_message_once(
        "nothing is counted (the kernel does not answer), set HEADRACE_COUNTERS=off to hide this "
        "line");
    return;
  }
  if (own.refusals.empty()) return;
  const bool is_least = settings().counters == CountersSetting::software;
  print_job_message_once("these events are not counted (" + own.refusals +
                         (is_least ? "), do without them"
                                   : "), set HEADRACE_COUNTERS=software for what most machines "
                                     "have"));
}

}  // namespace

void start_counting() noexcept {
  if (settings().counters == CountersSetting::off) return;
  try {
    start(counting());
  } catch (const std::bad_alloc&) {
    // As if it were off.
  }
}

void stop_counting() noexcept {
  if (settings().counters == CountersSetting::off) return;
  Counting& own = counting();
  if (!own.process.is_here() || !own.has_helper.exchange(false)) return;
  own.ending.release();
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kPatience;
  ::pthread_timedjoin_np(own.helper, nullptr, &until);
}

}  // namespace headrace::profile
