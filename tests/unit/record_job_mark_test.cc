#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "record/image_owner.h"
#include "record/job_mark.h"

namespace headrace::record {
namespace {

using Variables = std::map<std::string, std::string>;

/// The mark of a process that has these variables of launchers, and no others.
class JobMarks : public ::testing::Test {
 protected:
  static JobMark mark(const Variables& variables, int ranks, bool is_spawned = false) {
    for (const char* const name :
         {"PMIX_NAMESPACE", "PMI_FD", "PALS_APID", "ALPS_APP_ID", "SLURM_JOB_ID", "SLURM_STEP_ID",
          "SLURM_PROCID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID",
          "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
          "PALS_SIZE", "PALS_LOCAL_SIZE"}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    return find_job_mark(ranks, is_spawned);
  }
  static std::string own_name(const std::string& base) {
    return base + "-" + std::to_string(getpid()) + "-" + std::to_string(process_start(getpid()));
  }
};

const Variables kOfAStep = {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}};

TEST_F(JobMarks, OfOneRankAreItsOwnWhateverItInherits) {
  const JobMark single = mark(kOfAStep, 1);
  EXPECT_EQ(single.name(), own_name("slurm-7.0"));
  EXPECT_EQ(single.number, "7");
  EXPECT_TRUE(single.is_on_one_node());
  EXPECT_EQ(mark({}, 1).name(), own_name("process"));
}

TEST_F(JobMarks, OfSpawnedRanksAreTheirOwn) {
  const JobMark spawned =
      mark({{"PMI_FD", "9"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}}, 2, true);
  EXPECT_EQ(spawned.name(), own_name("hydra"));
  EXPECT_FALSE(spawned.is_on_one_node()) << "ranks must tell each other where their images are";
}

TEST_F(JobMarks, OfUnknownLaunchersAreOnSeveralNodes) {
  EXPECT_FALSE(mark({}, 4).is_on_one_node());
}

TEST_F(JobMarks, AreOnOneNodeOnlyWhereTheLauncherOfThisJobSaysSo) {
  const auto is_on_one_node = [](const Variables& own, int ranks) {
    Variables all = kOfAStep;
    all.insert(own.begin(), own.end());
    return mark(all, ranks).is_on_one_node();
  };
  const Variables outer = {{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  Variables both = outer;
  both["PMI_SIZE"] = "2";
  both["MPI_LOCALNRANKS"] = "1";
  EXPECT_TRUE(is_on_one_node(outer, 2));
  EXPECT_FALSE(is_on_one_node(outer, 4)) << "it is of another job";
  EXPECT_FALSE(is_on_one_node(both, 2)) << "one of them is of another job";
  both["PMI_SIZE"] = both["MPI_LOCALNRANKS"] = "3";
  EXPECT_TRUE(is_on_one_node(both, 3));
  EXPECT_FALSE(is_on_one_node({}, 2));
}

TEST_F(JobMarks, AreFitForANameAndTellRanksOfOtherLaunchersApart) {
  JobMark own = mark({{"PMIX_NAMESPACE", "../a b@1"}}, 2);
  EXPECT_EQ(own.base, "pmix-.._a_b@1");
  EXPECT_EQ(own.name({12, 345}), "pmix-.._a_b@1-12-345");
  EXPECT_EQ(own.name({}), "pmix-.._a_b@1");
}

}  // namespace
}  // namespace headrace::record
