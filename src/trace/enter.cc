// What each call of a traced function passes through. Functions get arguments and leave results in
// registers of vectors, which the trampoline does not save. So this file is compiled without them
// (headrace_use_no_vectors in CMakeLists.txt), as is what it calls: record/path_trie.cc.
#include <atomic>

#include "record/record_switch.h"
#include "trace/handler_frame.h"
#include "trace/thread_trace.h"

namespace headrace::trace {
namespace {

/// What a call moves by its arguments.
std::int64_t size_of(const TracedFunction& function, const TraceFrame& frame) noexcept {
  std::int64_t size = 1;
  for (const std::uint8_t argument : function.sizes) {
    if (argument == 0) continue;
    const auto value = static_cast<std::int64_t>(frame.registers[kArgumentRegisters[argument - 1]]);
    if (value < 0 || __builtin_mul_overflow(size, value, &size)) return 0;
  }
  return size;
}

void increase(std::int64_t& sum, std::int64_t value) noexcept {
  if (value > 0 && __builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

/// What is left of a call without what tracing took: of one call it may be less than nothing, as
/// that is a mean.
void add_without(std::int64_t& sum, std::int64_t ticks, std::int64_t cost) noexcept {
  const std::int64_t value = (ticks > 0 ? ticks : 0) - cost;
  if (__builtin_add_overflow(sum, value, &sum)) sum = value > 0 ? INT64_MAX : INT64_MIN;
}

std::int64_t product(std::int64_t one, std::int64_t other) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(one, other, &result) ? 0 : result;
}

}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadTrace* own_trace = nullptr;
std::atomic<std::uint32_t> traced_process = 0;
constinit CallCosts call_costs;

/// Whether a call was left without its end, by a jump: another one begins where it lay, or further
/// out, or something else lies where it would return to. Functions that are compiled into another
/// one have hooks in its frame.
HEADRACE_READS_STACK bool ThreadTrace::is_dead(const Open& open, const void* place,
                                               bool is_hooked) const noexcept {
  if (open.place < place || (open.place == place && !is_hooked)) return true;
  return open.returns != nullptr &&
         *open.returns != reinterpret_cast<std::uintptr_t>(headrace_trace_returned);
}

/// Whether calls that seem to be left are under way: the stack of a signal's handler may lie
/// within the thread's own, further out than what the signal interrupted.
bool ThreadTrace::are_hidden(const void* place) const noexcept {
  return depth_ > 0 && open_[depth_ - 1].place < place && is_on_signal_stack();
}

/// False: it cannot be told which are.
bool ThreadTrace::forget_dead(const void* place, bool is_hooked) noexcept {
  if (are_hidden(place)) return false;
  while (depth_ > 0 && is_dead(open_[depth_ - 1], place, is_hooked)) drop();
  return true;
}

/// Whether the call can be traced; sets what the trampoline copies.
bool ThreadTrace::prepare(TraceFrame& frame) noexcept {
  // On the stack of a signal handler, or of a fiber, nobody knows which calls are still under way.
  if (!stack_.holds(frame.return_slot) || !forget_dead(&frame, false)) return false;
  if (depth_ == kMostOpen) return false;
  const std::uintptr_t* const arguments = frame.return_slot + 1;
  const auto there = static_cast<std::uint64_t>(stack_.readable_end(arguments) - arguments) * 8;
  const std::uint64_t wanted = functions[frame.function].copied;
  frame.copied = (wanted < there ? wanted : there) & ~std::uint64_t{15};
  return true;
}

record::TracedCalls* ThreadTrace::known_calls(record::PathEnd& path,
                                              std::uint32_t function) noexcept {
  const std::uint32_t in_region = region();
  for (auto* link = static_cast<CallsLink*>(path.rows); link != nullptr; link = link->next) {
    if (link->function == function && link->calls->region == in_region) return link->calls;
  }
  return nullptr;
}

void ThreadTrace::open(const void* place, const std::uintptr_t* returns, std::uint32_t function,
                       record::TracedCalls& calls, std::int64_t size,
                       const CallCost& cost) noexcept {
  ++calls.calls;
  ++active_[function];
  open_[depth_] = {place, returns, &calls, function, 0, 0, 0, ticks_in_mpi(), size, cost, 0, 0};
  open_[depth_].begin = ticks_after_all();
  ++depth_;
}

void ThreadTrace::open(const TraceFrame& frame, record::TracedCalls& calls,
                       std::int64_t learning) noexcept {
  const auto function = static_cast<std::uint32_t>(frame.function);
  const auto* const arguments = reinterpret_cast<const std::uintptr_t*>(&frame) - frame.copied / 8;
  CallCost cost = call_costs.by_trampoline;
  cost.inside += call_costs.copy_of(static_cast<std::int64_t>(frame.copied));
  cost.outside += learning;
  open(&frame, arguments - 1, function, calls, size_of(functions[function], frame), cost);
}

void ThreadTrace::close(std::int64_t now, std::int64_t result) noexcept {
  const Open& ended = open_[--depth_];
  const TracedFunction& function = functions[ended.function];
  record::TracedCalls& calls = *ended.calls;
  const std::int64_t took = now > ended.begin ? now - ended.begin : 0;
  const std::int64_t mpi = ticks_in_mpi() - ended.mpi;
  const std::int64_t own_mpi = mpi - ended.inner_mpi;
  const std::int64_t cost = ended.cost_within + ended.cost.inside;
  const std::int64_t whole = took > cost ? took - cost : 0;
  add_without(calls.own, took - ended.inner - own_mpi, ended.calling_cost + ended.cost.inside);
  increase(calls.mpi, own_mpi);
  if (--active_[ended.function] == 0) add_without(calls.ticks, took, cost);
  if (whole < calls.least || calls.ended == 0) calls.least = whole;
  if (whole > calls.greatest) calls.greatest = whole;
  if (function.has_result) {
    if (result > 0) increase(calls.moved, product(result, ended.size));
  } else if (function.has_size) {
    increase(calls.moved, ended.size);
  }
  ++calls.ended;
  if (depth_ == 0) return;
  Open& caller = open_[depth_ - 1];
  caller.inner += took;
  caller.inner_mpi += mpi;
  caller.calling_cost += ended.cost.outside;
  caller.cost_within += cost + ended.cost.outside;
}

/// The innermost call was left without its end. Its own time is now its caller's own; so is what
/// tracing took of that, and its beginning, of which about `outside` is known.
void ThreadTrace::drop() noexcept {
  const Open& left = open_[--depth_];
  --active_[left.function];
  if (depth_ == 0) return;
  Open& caller = open_[depth_ - 1];
  caller.inner += left.inner;
  caller.inner_mpi += left.inner_mpi;
  caller.calling_cost += left.calling_cost + left.cost.outside;
  caller.cost_within += left.cost_within + left.cost.outside;
}

Answer ThreadTrace::begin(TraceFrame& frame) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy || !prepare(frame)) return pass();
  record::PathEnd* const path =
      record::has_steady_counter ? paths_.find_known(frame.return_slot) : nullptr;
  if (path == nullptr) return Answer::learn;
  record::TracedCalls* const calls = known_calls(*path, static_cast<std::uint32_t>(frame.function));
  if (calls == nullptr) return Answer::learn;
  open(frame, *calls, 0);
  return Answer::trace;
}

/// It may use all registers.
Answer ThreadTrace::begin_slowly(TraceFrame& frame) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy || !prepare(frame) || !may_learn(frame.return_slot)) return pass();
  const std::int64_t begin = record::ticks();
  record::PathEnd& path = paths_.find(frame.return_slot, 0);
  record::TracedCalls* const calls = calls_of(path, static_cast<std::uint32_t>(frame.function));
  if (calls == nullptr) return pass();
  // Without a steady counter all calls come this way, and what it takes was measured.
  open(frame, *calls, record::has_steady_counter ? record::ticks() - begin : 0);
  return Answer::trace;
}

void ThreadTrace::end(const TraceFrame& frame, std::int64_t now) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy) return;
  while (depth_ > 0 && open_[depth_ - 1].place < &frame) drop();
  if (depth_ > 0 && open_[depth_ - 1].place == &frame) {
    close(now, static_cast<std::int64_t>(frame.registers[kResultRegister]));
  }
}

}  // namespace headrace::trace

using headrace::trace::Answer;
using headrace::trace::TraceFrame;

int headrace_trace_enter(TraceFrame* frame) noexcept {
  namespace trace = headrace::trace;
  frame->target = trace::functions[frame->function].target;
  if (!trace::is_tracing() || headrace::record::is_switched_off.load(std::memory_order_relaxed)) {
    return static_cast<int>(Answer::pass);
  }
  trace::ThreadTrace* const own = trace::own_trace;
  return static_cast<int>(own == nullptr ? Answer::learn : own->begin(*frame));
}

int headrace_trace_leave(TraceFrame* frame) noexcept {
  namespace trace = headrace::trace;
  trace::ThreadTrace* const own = trace::own_trace;
  if (own == nullptr || !trace::is_tracing()) return 1;
  if (!headrace::record::has_steady_counter) return 0;
  own->end(*frame, trace::ticks_after_all());
  return 1;
}
