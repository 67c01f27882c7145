// What HEADRACE_COLL_SYNC means, and what of it cannot be used.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collective/sync_plan.h"

namespace headrace::collective {
namespace {

constexpr std::string_view kOperations[] = {"bcast", "gather", "alltoallv"};
using Every = std::vector<std::int64_t>;

SyncPlan read(const std::vector<std::string>& given) {
  return read_sync_plan(given, kOperations);
}

TEST(SyncPlan, IsEmptyWhereNothingIsAskedFor) {
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{}, {"0"}, {"none"}, {"all", "0"}}) {
    EXPECT_EQ(read(given).every, (Every{0, 0, 0}));
    EXPECT_TRUE(read(given).is_empty());
    EXPECT_TRUE(read(given).problems.empty());
  }
}

TEST(SyncPlan, NamesOperationsInAnySpelling) {
  EXPECT_EQ(read({"1"}).every, (Every{1, 1, 1}));
  EXPECT_EQ(read({"all"}).every, (Every{1, 1, 1}));
  EXPECT_EQ(read({"bcast"}).every, (Every{1, 0, 0}));
  EXPECT_EQ(read({"MPI_Gather", "AllToAllv"}).every, (Every{0, 1, 1}));
  EXPECT_FALSE(read({"bcast"}).is_empty());
}

TEST(SyncPlan, MayBeForEachNthCall) {
  EXPECT_EQ(read({"mpi_bcast:64", "gather"}).every, (Every{64, 1, 0}));
  EXPECT_EQ(read({"all:7"}).every, (Every{7, 7, 7}));
  EXPECT_EQ(read({"1:3"}).every, (Every{3, 3, 3}));
  EXPECT_EQ(read({"all:7", "bcast:2"}).every, (Every{2, 7, 7}));
  EXPECT_EQ(read({"bcast:1000000"}).every, (Every{1'000'000, 0, 0}));
}

TEST(SyncPlan, SaysWhatItIgnoresAndUsesTheRest) {
  for (const char* const bad :
       {"bcats", "barrier", "", "bcast:", "bcast:0", "bcast:-1", "bcast:x", "bcast:3x", "bcast: 3",
        "bcast:3:4", "bcast:1000001", "bcast:99999999999999999999", ":3", "mpi_", "0:3", "none:2",
        "all:0", "\x1b[31m"}) {
    const SyncPlan plan = read({bad, "gather:5"});
    EXPECT_EQ(plan.every, (Every{0, 5, 0})) << bad;
    ASSERT_EQ(plan.problems.size(), 1U) << bad;
    EXPECT_NE(plan.problems[0].find("is ignored ("), std::string::npos) << plan.problems[0];
    EXPECT_EQ(plan.problems[0].find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(
      read({"bcasts"}).problems[0],
      "'bcasts' of HEADRACE_COLL_SYNC is ignored (no operation that can have a barrier before "
      "it has this name), did you mean bcast?");
  EXPECT_EQ(read({"bcast:0"}).problems[0],
            "'bcast:0' of HEADRACE_COLL_SYNC is ignored (no whole number from 1 to 1000000 follows "
            "the colon), write for example bcast:64");
  EXPECT_LT(read({std::string(100'000, 'b')}).problems[0].size(), 300U);
}

}  // namespace
}  // namespace headrace::collective
