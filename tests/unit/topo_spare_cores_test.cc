#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "topo/spare_cores.h"
#include "unit/two_cores.h"

namespace headrace::topo {
namespace {

int cores_of_this_thread() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Cores of a thread that was bound to one core before it asked for more, as one of `ranks`.
int cores_after_asking(int ranks) {
  int cores = 0;
  std::thread([&] {
    stay_on(sched_getcpu());
    use_spare_cores(ranks);
    cores = cores_of_this_thread();
  }).join();
  return cores;
}

TEST(SpareCores, AreUsedWhereThereAreAny) {
  const int all = cores_after_asking(1);
  if (all < 2) GTEST_SKIP() << "this machine has one core";
  EXPECT_GE(all, cores_of_this_thread());
  EXPECT_EQ(cores_after_asking(all - 1), all);
}

TEST(SpareCores, AreNotTakenFromOtherRanks) {
  constexpr int kMoreThanAnyNodeHas = 1 << 20;
  EXPECT_EQ(cores_after_asking(kMoreThanAnyNodeHas), 1);
  EXPECT_EQ(cores_after_asking(0), 1) << "nothing is known of the ranks";
}

TEST(SpareCores, ReadsSlurmsNumbers) {
  EXPECT_EQ(most_tasks("8(x3),5"), 8);
  EXPECT_EQ(most_tasks("5,16(x2),7"), 16);
  EXPECT_EQ(most_tasks("4"), 4);
  EXPECT_EQ(most_tasks(""), 0);
  EXPECT_EQ(most_tasks("none"), 0);
}

}  // namespace
}  // namespace headrace::topo
