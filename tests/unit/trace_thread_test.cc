#include <alloca.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "record/image_reader.h"
#include "trace/thread_trace.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

namespace headrace::trace {
namespace {

// Calls take made-up times, hours long, so that what the machine adds is nothing beside them.
constexpr std::int64_t kUnit = std::int64_t{1} << 44;
constexpr std::int64_t kInside = kUnit / 64;
constexpr std::int64_t kOutside = kUnit / 32;
constexpr double kNear = static_cast<double>(kUnit) / 1024;

enum Function : std::uint32_t { kCaller, kLeft, kFurther, kSmall };

class ThreadTraces : public ::testing::Test {
 protected:
  ThreadTraces() {
    record::choose_clock();
    call_costs.by_hooks = {.inside = kInside, .outside = kOutside};
    for (std::uint32_t i = kCaller; i <= kSmall; ++i) {
      functions[i] = {};
      functions[i].note = made_.note(record::NoteKind::traced, {std::to_string(i)});
    }
    trace_ = ThreadTrace::make(*made_.image, 0, 8);
  }
  ~ThreadTraces() override { call_costs = {}; }

  /// A call with hooks, in which `body` runs. It takes so long; 0: it is left without its end, as
  /// by a jump.
  [[gnu::noipa]] void call(Function function, std::int64_t took,
                           const std::function<void()>& body = {}) {
    const auto* slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
    const std::int64_t begin = record::ticks();
    trace_->begin_hooked(function, slot);
    if (body) body();
    if (took > 0) trace_->end_hooked(function, slot, begin + took);
    asm volatile("" : : "r"(slot) : "memory");
  }
  [[gnu::noipa]] void call_deeper(Function function, std::int64_t took,
                                  const std::function<void()>& body) {
    auto* const memory = static_cast<volatile char*>(alloca(4096));
    memory[0] = 1;
    call(function, took, body);
    memory[0] = 2;
  }
  void call_small(int times) {
    for (int i = 0; i < times; ++i) call(kSmall, kUnit);
  }

  struct Sums {
    double time = 0;
    double own = 0;
    std::int64_t unended = 0;
  };
  /// By function, as the image has them.
  std::map<std::uint32_t, Sums> sums() {
    made_.finish();
    std::map<std::uint32_t, Sums> found;
    const record::Image image = std::move(record::Image::read(made_.image->path()).value());
    for (const auto& [number, thread] : image.traced()) {
      for (const record::TracedCalls& calls : thread.calls) {
        Sums& of = found[calls.function];
        of.time += static_cast<double>(calls.ticks);
        of.own += static_cast<double>(calls.own);
        of.unended += calls.calls - calls.ended;
      }
    }
    return found;
  }
  static void expect_near(const Sums& found, std::int64_t time, std::int64_t own) {
    EXPECT_NEAR(found.time, static_cast<double>(time), kNear);
    EXPECT_NEAR(found.own, static_cast<double>(own), kNear);
  }

  record::PrivateFolder folder_;
  record::MadeImage made_{folder_.path, "job", 0, 1};
  std::unique_ptr<ThreadTrace> trace_;
};

constexpr int kTimes = 20;
constexpr std::int64_t kWhole = 100 * kUnit;
constexpr std::int64_t kOfSmall = kTimes * kUnit;
constexpr std::int64_t kCostOfSmall = kTimes * (kInside + kOutside);

TEST_F(ThreadTraces, LeaveOutWhatTracingTakes) {
  call(kCaller, kWhole, [&] { call(kLeft, 50 * kUnit, [&] { call_small(kTimes); }); });
  auto found = sums();
  expect_near(found[kSmall], kOfSmall - kTimes * kInside, kOfSmall - kTimes * kInside);
  expect_near(found[kLeft], 50 * kUnit - kCostOfSmall - kInside,
              50 * kUnit - kOfSmall - kTimes * kOutside - kInside);
  expect_near(found[kCaller], kWhole - kCostOfSmall - kInside - kOutside - kInside,
              50 * kUnit - kOutside - kInside);
}

/// What a call that was left had of other calls, and of what tracing them took, is its caller's;
/// its own time is its caller's own.
TEST_F(ThreadTraces, HandOverWhatCallsHadThatWereLeft) {
  call(kCaller, kWhole, [&] { call_deeper(kLeft, 0, [&] { call_small(kTimes); }); });
  auto found = sums();
  EXPECT_EQ(found[kLeft].unended, 1);
  expect_near(found[kSmall], kOfSmall - kTimes * kInside, kOfSmall - kTimes * kInside);
  expect_near(found[kCaller], kWhole - kCostOfSmall - kOutside - kInside,
              kWhole - kOfSmall - kTimes * kOutside - kOutside - kInside);
}

/// By way of calls that were left, too; and where the next call shows it.
TEST_F(ThreadTraces, HandOverFromCallToCall) {
  call(kCaller, kWhole, [&] {
    call_deeper(kFurther, 0, [&] {
      call_small(kTimes);
      call_deeper(kLeft, 0, [&] { call_small(kTimes); });
    });
    call(kSmall, kUnit);
  });
  auto found = sums();
  EXPECT_EQ(found[kLeft].unended + found[kFurther].unended, 2);
  constexpr int kAll = 2 * kTimes + 1;
  expect_near(found[kSmall], kAll * (kUnit - kInside), kAll * (kUnit - kInside));
  expect_near(found[kCaller], kWhole - kAll * (kInside + kOutside) - 2 * kOutside - kInside,
              kWhole - kAll * (kUnit + kOutside) - 2 * kOutside - kInside);
}

}  // namespace
}  // namespace headrace::trace
