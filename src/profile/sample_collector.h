#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/task_directory.h"
#include "profile/code_map.h"
#include "profile/sample_signal.h"
#include "profile/sample_store.h"
#include "profile/sampled_thread.h"
#include "profile/unwinder.h"

namespace headrace::profile {

/// What threads tell of themselves when they first call MPI.
struct KnownThread {
  const record::ThreadRecord* record = nullptr;
  AddressRange stack;
  std::shared_ptr<RegionLog> regions;
};

/// How samples are taken.
struct SamplingPlan {
  record::SampleSource source = record::SampleSource::timer;
  std::int64_t period = 0;               ///< ns
  std::size_t stack_size = 0;            ///< bytes that are copied of each sample's stack
  bool may_signal = true;                ///< where the kernel refuses perf_event for a thread
  std::optional<record::Python> python;  ///< whose frames samples have that signals take
};

/// Finds the threads of the process, has them sampled, and brings their samples into the image. One
/// thread of ours calls it.
class SampleCollector {
 public:
  /// `wake` is called, in a signal handler, where collect() is due.
  SampleCollector(record::ImageFile& image, const SamplingPlan& plan, void (*wake)());
  SampleCollector(const SampleCollector&) = delete;
  SampleCollector& operator=(const SampleCollector&) = delete;

  /// Looks for threads that have begun or ended. `known` by thread.
  void find_threads(const std::unordered_map<pid_t, KnownThread>& known);
  /// Whether the program has taken our signal for itself.
  bool has_lost_signal() const { return signal_ != 0 && !has_signal(); }
  /// Takes in the samples that are there.
  void collect();
  /// No further samples are taken; those that are there are taken in.
  void stop();
  /// The same, but those that are there are lost.
  void close() noexcept;

 private:
  /// A sample that was unwound, but is not yet in the image. `thread` points into threads_, whose
  /// elements stay where they are; find_threads() frees one only after a collect().
  struct Ready {
    SampledThread* thread;
    std::uint32_t region;
    std::int64_t time;
    Unwound frames;
    PythonSample python;
  };
  static constexpr std::size_t kBatch = 64;

  SampledThread* free_thread();
  void begin(pid_t id);
  record::SampleSource start(SampledThread& thread);
  void arm_unless_blocked(SampledThread& thread);
  bool take_next(SampledThread& thread, Ready& ready) noexcept;
  std::int64_t ticks_at(std::int64_t ns) const noexcept;
  void end(SampledThread& thread);
  void tell(SampledThread& thread, const KnownThread& known);
  void learn_stack(SampledThread& thread);
  void update(SampledThread& thread);
  void unwind_batch() noexcept;
  void store_batch();
  std::vector<std::uintptr_t> path_of(const Ready& ready);

  const SamplingPlan plan_;
  const pid_t own_;
  const record::ClockReading begin_ = record::read_clock();
  record::ClockReading now_;
  void (*const wake_)();
  int signal_ = 0;  ///< 0: none is used
  int scans_ = 0;   ///< so far
  TaskDirectory tasks_;
  SampleStore store_;
  const AddressRange interpreter_;
  CodeMap code_;
  Unwinder unwinder_{code_};
  std::deque<SampledThread> threads_;
  std::unordered_map<pid_t, SampledThread*> by_id_;
  record::MappedArray<Ready> ready_{kBatch};
  std::size_t ready_count_ = 0;
  std::uint64_t unloads_ = 0;  ///< of objects, when paths were last forgotten
  std::size_t next_ = 0;       ///< the thread with which the next batch begins
};

}  // namespace headrace::profile
