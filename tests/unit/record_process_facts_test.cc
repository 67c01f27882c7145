#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "record/process_facts.h"

namespace headrace::record {
namespace {

bool is_recorded(const char* name) {
  ::setenv(name, "canary", 1);
  const Facts found = allowed_variables();
  ::unsetenv(name);
  return std::ranges::any_of(found, [&](const auto& fact) { return fact.first == name; });
}

TEST(AllowedVariables, AreOurSettings) {
  EXPECT_TRUE(is_recorded("HEADRACE_RECORD_PATIENCE"));
  EXPECT_FALSE(is_recorded("HEADRACE_MY_PASSWORD"));
  EXPECT_FALSE(is_recorded("HEADRACE_"));
}

TEST(AllowedVariables, AreThoseOfTheList) {
  for (const char* name : {"OMP_NUM_THREADS", "SLURM_JOB_ID", "MPIR_CVAR_CH4_OFI_TAG_BITS",
                           "I_MPI_ADJUST_BCAST", "OMPI_MCA_coll_tuned_priority", "LD_PRELOAD"}) {
    EXPECT_TRUE(is_recorded(name)) << name;
  }
}

TEST(AllowedVariables, HaveNoSecrets) {
  for (const char* name :
       {"SLURM_JWT", "PMIX_SERVER_URI", "PMI_PORT", "I_MPI_HYDRA_DEBUG", "OMPI_MCA_orte_hnp_uri",
        "AWS_SECRET_ACCESS_KEY", "OMP_NUM_THREADS_KEY", "HOME", "SSH_AUTH_SOCK", "PATH",
        "LD_LIBRARY_PATH", "XHEADRACE_RECORD", "headrace_record"}) {
    EXPECT_FALSE(is_recorded(name)) << name;
  }
}

}  // namespace
}  // namespace headrace::record
