#include <memory>

#include "count/hot_loops.h"
#include "plan/coverage.h"
#include "plan/windows.h"
#include "policy/path.h"

namespace headrace::count {
namespace {

constexpr ByteCount kWindow = 1 << 20;

/// 8 ranks whose data interleaves in one call of 50 KB a rank.
std::vector<plan::RankRange> ranges_of_call() {
  std::vector<plan::RankRange> ranges;
  for (FileOffset rank = 0; rank < 8; ++rank) {
    ranges.push_back({rank * 1'000, 393'000 + rank * 1'000, 50'000});
  }
  return ranges;
}

HotLoop windows_loop() {
  constexpr std::int64_t kCalls = 500;
  const auto ranges = std::make_shared<std::vector<plan::RankRange>>(ranges_of_call());
  return {"plan_windows_8_ranks", "call", kCalls, [=] {
            for (std::int64_t i = 0; i < kCalls; ++i) {
              const plan::Windows windows(*ranges, kWindow);
              const std::int64_t count = windows.count() + windows.participants(0);
              asm volatile("" : : "r"(count));
            }
          }};
}

HotLoop decision_loop() {
  constexpr std::int64_t kCalls = 500;
  policy::CallFacts facts;
  facts.node_ranks = 8;
  facts.cores = 8;
  facts.bytes = facts.span = 400'000;
  facts.pieces = 400;
  facts.windows = 1;
  return {"decide_call", "call", kCalls, [=] {
            for (std::int64_t i = 0; i < kCalls; ++i) {
              asm volatile("" : : : "memory");
              const policy::CallDecision decision =
                  policy::decide_call(policy::PathHint::automatic, facts);
              asm volatile("" : : "r"(decision.path));
            }
          }};
}

HotLoop coverage_loop(const std::string& name, ByteCount piece, int granule_shift) {
  const std::int64_t pieces = kWindow / (2 * piece);  // of each of two ranks
  const auto words = std::make_shared<std::vector<plan::Coverage::Word>>(kWindow / 64);
  return {"coverage_" + name, "piece", 2 * pieces, [=] {
            plan::Coverage coverage(words->data(), granule_shift);
            for (const std::int64_t first : {0, 1}) {
              coverage.mark_strided(first * piece, piece, 2 * piece, pieces);
            }
            ByteCount begin = 0;
            ByteCount len = 0;
            coverage.next_run(0, kWindow, begin, len);
            coverage.clear(kWindow);
            asm volatile("" : : "r"(len));
          }};
}

}  // namespace

void add_plan_loops(std::vector<HotLoop>& loops) {
  loops.push_back(windows_loop());
  loops.push_back(decision_loop());
  loops.push_back(coverage_loop("64B", 64, 6));
  loops.push_back(coverage_loop("1000B", 1'024, 3));
}

}  // namespace headrace::count
