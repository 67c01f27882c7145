#include "trace/trace_cost.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/process_mark.h"
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
}

/// Of one call, in ticks: the least mean of some rounds.
double least_of(void (*call)()) {
  void (*volatile called)() = call;
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t begin = record::ticks();
    for (int i = 0; i < kCalls; ++i) called();
    least = std::min(least, record::ticks() - begin);
  }
  return static_cast<double>(least) / kCalls;
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

TraceCosts measure_costs(std::span<const std::string> directories, const std::string& job) {
  auto scratch = record::ImageFile::make(directories, job,
                                         ".trace-cost-" + std::to_string(getpid()), kScratch);
  if (!scratch) return {};
  scratch.value()->remove();
  const std::unique_ptr<ThreadTrace> trace = ThreadTrace::make(*scratch.value(), 0, 8);
  if (trace == nullptr) return {};
  const ProcessMark process;
  functions[kProbe].target = reinterpret_cast<const void*>(&do_nothing);
  const record::ClockReading begin = record::read_clock();
  ThreadTrace* const kept = std::exchange(own_trace, trace.get());
  traced_process = process.number();
  const double traced = least_of(reinterpret_cast<void (*)()>(stub_of(kProbe)));
  add_hooked(reinterpret_cast<const void*>(&do_nothing), kProbe);
  const double hooked = least_of(&do_nothing_between_hooks);
  traced_process = 0;
  own_trace = kept;
  const double untraced = least_of(&do_nothing);
  const double tick = record::tick_length(begin, record::read_clock());
  functions[kProbe] = {};
  const auto picoseconds = [&](double ticks) {
    return static_cast<std::uint64_t>(std::max(ticks - untraced, 0.0) * tick * 1000);
  };
  return {picoseconds(traced), picoseconds(hooked)};
}

}  // namespace headrace::trace
