#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/process_mark.h"
#include "record/call_path.h"
#include "record/clock.h"
#include "record/image_file.h"
#include "record/mapped_array.h"
#include "record/modules.h"
#include "record/thread_record.h"
#include "trace/call_cost.h"
#include "trace/frame.h"
#include "trace/traced_functions.h"

namespace headrace::trace {

/// Marks, while it lives, that its thread changes what a handler of a signal would change, too.
/// False in such a handler.
class BusyMark {
 public:
  explicit BusyMark(std::atomic<bool>& is_busy) noexcept
      : is_busy_(is_busy), is_first_(!is_busy.load(std::memory_order_relaxed)) {
    if (is_first_) is_busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~BusyMark() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_first_) is_busy_.store(false, std::memory_order_relaxed);
  }
  BusyMark(const BusyMark&) = delete;
  BusyMark& operator=(const BusyMark&) = delete;
  explicit operator bool() const noexcept { return is_first_; }

 private:
  std::atomic<bool>& is_busy_;
  const bool is_first_;
};

/// Calls of traced functions by one thread. Only that thread writes it. What is inline here is
/// compiled without registers of vectors where calls come by a trampoline: see frame.h.
class ThreadTrace final : public record::PathStore {
 public:
  /// Null without memory.
  static std::unique_ptr<ThreadTrace> make(record::ImageFile& image, std::uint32_t number,
                                           int depth);

  /// Another thread takes it over.
  void change_thread() noexcept;
  /// The thread's calls of MPI; null: it makes none. Its regions are those of these.
  void set_record(const record::ThreadRecord* record) noexcept;
  std::uint32_t number() const { return number_; }

  /// A call begins. Answer::learn: begin_slowly() is to be called. Fills in what the trampoline
  /// needs.
  Answer begin(TraceFrame& frame) noexcept;
  Answer begin_slowly(TraceFrame& frame) noexcept;
  void end(const TraceFrame& frame, std::int64_t now) noexcept;

  /// The same for hooks of the compiler, in the function itself. `slot`: where the hook's return
  /// address lies.
  void begin_hooked(std::uint32_t function, const std::uintptr_t* slot) noexcept;
  void end_hooked(std::uint32_t function, const std::uintptr_t* slot, std::int64_t now) noexcept;

  /// An exception leaves the innermost call.
  void unwind(std::int64_t now) noexcept;
  /// Calls that are under way end now, but for those that were left by a jump.
  void end_all(std::int64_t now) noexcept;

  /// Of the calls of a function that have ended.
  std::int64_t ticks_of(std::uint32_t function) const noexcept;

 private:
  /// A call that is under way.
  struct Open {
    const void* place;  ///< its frame, or the slot of its hook
    const std::uintptr_t*
        returns;  ///< where its way back to the trampoline lies; null: it is hooked
    record::TracedCalls* calls;
    std::uint32_t function;
    std::int64_t begin;
    std::int64_t inner;      ///< ticks in traced calls within it
    std::int64_t inner_mpi;  ///< of these, in MPI
    std::int64_t mpi;        ///< the thread's ticks in MPI when it began
    std::int64_t size;       ///< what its arguments say that it moves
    CallCost cost;
    std::int64_t calling_cost;  ///< of its own ticks, what tracing the calls that it made took
    std::int64_t cost_within;   ///< ticks that tracing all calls within it took
  };
  struct CallsLink {
    record::TracedCalls* calls;
    std::uint32_t function;
    CallsLink* next;
  };
  static constexpr std::size_t kMostOpen = 1024;
  static constexpr std::size_t kMostCalls = 16384;
  static constexpr std::size_t kMostFrames = 16384;

  ThreadTrace(record::ImageFile& image, std::uint32_t number, int depth);

  /// A call that is not traced.
  Answer pass() noexcept {
    image_.header().untraced.fetch_add(1, std::memory_order_relaxed);
    return Answer::pass;
  }
  bool is_dead(const Open& open, const void* place, bool is_hooked) const noexcept;
  bool are_hidden(const void* place) const noexcept;
  bool forget_dead(const void* place, bool is_hooked) noexcept;
  record::TracedCalls* known_calls(record::PathEnd& path, std::uint32_t function) noexcept;
  record::TracedCalls* calls_of(record::PathEnd& path, std::uint32_t function) noexcept;
  record::TracedCalls* new_calls(record::PathEnd& path, std::uint32_t function);
  record::TracedCalls* other_calls(std::uint32_t function);
  /// `learning`: ticks that it took to know the call's path.
  void open(const TraceFrame& frame, record::TracedCalls& calls, std::int64_t learning) noexcept;
  void open(const void* place, const std::uintptr_t* returns, std::uint32_t function,
            record::TracedCalls& calls, std::int64_t size, const CallCost& cost) noexcept;
  void close(std::int64_t now, std::int64_t result) noexcept;
  void drop() noexcept;
  bool prepare(TraceFrame& frame) noexcept;
  bool may_learn(const std::uintptr_t* slot) const noexcept;
  std::uint32_t region() const noexcept { return record_ == nullptr ? 0 : record_->region(); }
  std::int64_t ticks_in_mpi() const noexcept {
    return record_ == nullptr ? 0 : record_->ticks_in_calls();
  }
  record::PathId add_frame(const record::Frame& frame) noexcept;
  record::PathId add(record::PathId caller, std::uintptr_t return_address) noexcept override;

  record::ImageFile& image_;
  const std::uint32_t number_;
  const record::ThreadRecord* record_ = nullptr;
  std::atomic<bool> is_busy_ = false;  ///< a signal handler may interrupt what follows
  record::ThreadStack stack_;
  std::size_t depth_ = 0;
  record::MappedArray<Open> open_{kMostOpen};
  record::MappedArray<std::uint16_t> active_{kMostFunctions};  ///< calls under way, by function
  record::MappedArray<CallsLink> links_{kMostCalls};
  record::MappedArray<record::TracedCalls*> others_{kMostFunctions};
  record::ExtentHeader* calls_ = nullptr;
  record::ExtentHeader* frames_ = nullptr;
  std::uint32_t frame_count_ = 0;
  record::Modules modules_;
  record::CallPaths paths_;
};

/// That of this thread; null before its first call of a traced function.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadTrace* own_trace;
/// The number of the process whose calls are traced (base/process_mark.h); 0 before and after.
extern std::atomic<std::uint32_t> traced_process;

/// False in children, too, however they were made.
inline bool is_tracing() noexcept {
  const std::uint32_t traced = traced_process.load(std::memory_order_relaxed);
  return traced != 0 && traced == number_of_process();
}

/// Makes own_trace, or takes over that of a thread that has ended. Null if this thread gets none.
/// `slot`: where the return address of the program's call lies.
ThreadTrace* make_own_trace(const std::uintptr_t* slot) noexcept;

/// Words of stack that must be left below a call whose path is learnt.
inline constexpr std::ptrdiff_t kRoomToLearn = 3072;

}  // namespace headrace::trace
