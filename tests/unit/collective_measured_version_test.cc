// Of which libraries the shipped table is, by what they say of themselves.
#include <gtest/gtest.h>

#include "collective/measured_version.h"

namespace headrace::collective {
namespace {

TEST(MeasuredVersion, IsThatOfItsMajorVersion) {
  EXPECT_TRUE(
      is_measured_version(Library::mpich, "MPICH Version:      5.0.2\nMPICH Release date:"));
  EXPECT_TRUE(is_measured_version(Library::mpich, "MPICH Version:\t5.1"));
  EXPECT_FALSE(is_measured_version(Library::mpich, "MPICH Version:      4.0.2\nMPICH Release"));
  EXPECT_FALSE(is_measured_version(Library::mpich, "MPICH Version:      50.0"));
  EXPECT_TRUE(is_measured_version(Library::openmpi, "Open MPI v5.0.11, package: x"));
  EXPECT_FALSE(is_measured_version(Library::openmpi, "Open MPI v4.1.4, package: Debian OpenMPI"));
  EXPECT_TRUE(is_measured_version(Library::intel, "Intel(R) MPI Library 2021.18 for Linux* OS"));
}

TEST(MeasuredVersion, IsNoneOfLibrariesThatAreMadeOfIt) {
  for (const char* const says :
       {"MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)",
        "MPI VERSION    : CRAY MPICH version 5.0.0", "MVAPICH Version:      5.0", "",
        "MPICH Version:", "MPICH Version: five", "Open MPI v5.0.11"}) {
    EXPECT_FALSE(is_measured_version(Library::mpich, says)) << says;
    EXPECT_FALSE(is_measured_version(Library::other, says)) << says;
  }
}

}  // namespace
}  // namespace headrace::collective
