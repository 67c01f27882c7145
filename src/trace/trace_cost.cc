#include "trace/trace_cost.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/process_mark.h"
#include "trace/call_cost.h"
#include "trace/hooks.h"
#include "trace/thread_trace.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace headrace::trace {
namespace {

constexpr int kRounds = 20;
constexpr int kCalls = 50;
constexpr std::uint64_t kScratch = std::uint64_t{256} << 10;
constexpr std::uint32_t kProbe = kMostFunctions - 1;  // no plan gets so far before this is done

[[gnu::noinline]] void do_nothing() {
  asm volatile("");
}

[[gnu::noinline]] void do_nothing_between_hooks() {
  enter_hook(reinterpret_cast<void*>(&do_nothing), nullptr);
  exit_hook(reinterpret_cast<void*>(&do_nothing), nullptr);
  asm volatile("");  // the hook is no tail call: it would not be within this function
}

/// Ticks of one call.
struct Round {
  double whole = 0;
  double inner = 0;  ///< of it, what its trace says
};

/// The mean of that round of some which took least.
Round least_of(void (*call)(), const ThreadTrace& trace) {
  void (*volatile called)() = call;
  Round least{static_cast<double>(INT64_MAX), 0};
  for (int i = 0; i < kRounds; ++i) {
    const std::int64_t inner = trace.ticks_of(kProbe);
    const std::int64_t begin = record::ticks();
    for (int k = 0; k < kCalls; ++k) called();
    const auto whole = static_cast<double>(record::ticks() - begin) / kCalls;
    const auto own = static_cast<double>(trace.ticks_of(kProbe) - inner) / kCalls;
    if (whole < least.whole) least = {whole, own};
  }
  return least;
}

/// The same with so many bytes of arguments on the stack, which has them.
[[gnu::noinline]] Round least_of_stub(const ThreadTrace& trace, std::int64_t copied) {
  char room[kLargeCopy + 64];
  asm volatile("" : : "r"(room) : "memory");
  functions[kProbe].copied = static_cast<std::uint32_t>(copied);
  const Round least =
      least_of(reinterpret_cast<void (*)()>(const_cast<void*>(stub_of(kProbe))), trace);
  functions[kProbe].copied = 0;
  asm volatile("" : : "r"(room) : "memory");
  return least;
}

std::int64_t whole_ticks(double ticks) {
  return std::llround(std::max(ticks, 0.0));
}

/// `untraced`: what the call itself takes, which belongs to the function.
CallCost cost_of(const Round& traced, double untraced) {
  return {whole_ticks(traced.inner - untraced), whole_ticks(traced.whole - traced.inner)};
}

}  // namespace

bool can_trace() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
#else
  return false;
#endif
}

std::optional<TraceCosts> measure_costs(std::span<const std::string> directories,
                                        const std::string& job) {
  auto scratch = record::ImageFile::make(directories, job,
                                         ".trace-cost-" + std::to_string(getpid()), kScratch);
  if (!scratch) return std::nullopt;
  scratch.value()->remove();
  const std::unique_ptr<ThreadTrace> trace = ThreadTrace::make(*scratch.value(), 0, 8);
  if (trace == nullptr) return std::nullopt;
  const ProcessMark process;
  functions[kProbe].target = reinterpret_cast<const void*>(&do_nothing);
  const record::ClockReading begin = record::read_clock();
  ThreadTrace* const kept = std::exchange(own_trace, trace.get());
  traced_process = process.number();
  const Round traced = least_of_stub(*trace, 0);
  const Round small = least_of_stub(*trace, kSmallCopy);
  const Round large = least_of_stub(*trace, kLargeCopy);
  add_hooked(reinterpret_cast<const void*>(&do_nothing), kProbe);
  const Round hooked = least_of(&do_nothing_between_hooks, *trace);
  traced_process = 0;
  own_trace = kept;
  const double untraced = least_of(&do_nothing, *trace).whole;
  const double tick = record::tick_length(begin, record::read_clock());
  functions[kProbe] = {};
  call_costs = {cost_of(traced, untraced), cost_of(hooked, untraced),
                whole_ticks(small.inner - traced.inner), whole_ticks(large.inner - traced.inner)};
  const auto picoseconds = [&](double ticks) {
    return static_cast<std::uint64_t>(std::max(ticks, 0.0) * tick * 1000);
  };
  const auto costs = [&](const Round& round, const CallCost& cost) {
    return CostOfWay{picoseconds(round.whole - untraced),
                     picoseconds(static_cast<double>(cost.inside))};
  };
  return TraceCosts{costs(traced, call_costs.by_trampoline), costs(hooked, call_costs.by_hooks)};
}

}  // namespace headrace::trace
