// A rank that waits in a call lets the MPI library go on with the program's messages: another rank
// may be unable to come before one of them has gone out.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "unit/collective_rank_threads.h"

namespace headrace::collective {
namespace {

constexpr int kRanks = 3;
constexpr int kLate = 2;

std::array<std::atomic<int>, kRanks> looks;
std::array<std::atomic<int>, kRanks> calls;

/// Counts the looks of each rank.
class CountedMessenger : public sim::MailboxMessenger {
 public:
  using MailboxMessenger::MailboxMessenger;
  void progress() override { ++looks[static_cast<std::size_t>(rank())]; }
};

/// Until the ranks, which are in their call with this number or about to be, have let the library
/// go on.
void wait_for_looks(int number, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    const auto r = static_cast<std::size_t>(rank);
    while (calls[r] < number) std::this_thread::yield();
    for (const int before = looks[r]; looks[r] == before;) std::this_thread::yield();
  }
}

/// The last rank comes to each call when those that `wait` have let the library go on. That this
/// ends is the test.
void call_late(const std::vector<std::string>& nodes, const std::vector<Call>& made,
               const std::vector<int>& wait) {
  for (auto& count : calls) count = 0;
  run_ranks<CountedMessenger>(nodes, [&](int rank, Ranks& ranks) {
    for (int turn = 1; turn <= 4; ++turn) {
      for (const Call& call : made) {
        const std::int64_t mine = rank;
        std::int64_t got[kRanks] = {};
        const int number = ++calls[static_cast<std::size_t>(rank)];
        if (rank == kLate) wait_for_looks(number, wait);
        ASSERT_EQ(run(ranks, call, &mine, got), Ranks::Outcome::done);
        if (call.operation == Operation::allreduce) {
          ASSERT_EQ(got[0], 3);
        }
        if (call.operation == Operation::allgather) {
          ASSERT_EQ(got[kLate], kLate);
        }
      }
    }
  });
}

Call call_of(Operation operation) {
  Call call = operation == Operation::allgather ? gather_call(1) : sum_call(1);
  call.operation = operation;
  call.root = kLate;
  if (operation == Operation::barrier) call.bytes = 0;
  return call;
}

TEST(Progress, IsMadeWhileRanksWaitForOthersOfTheirNode) {
  call_late({"a", "a", "a"},
            {call_of(Operation::barrier), call_of(Operation::allreduce), call_of(Operation::bcast),
             call_of(Operation::allgather)},
            {0, 1});
}

/// The first rank waits in the library itself, for a message.
TEST(Progress, IsMadeWhileTheLeaderWaitsForOtherNodes) {
  call_late({"a", "a", "b"}, {call_of(Operation::bcast), call_of(Operation::allgather)}, {1});
}

}  // namespace
}  // namespace headrace::collective
