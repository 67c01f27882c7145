#include <gtest/gtest.h>

#include <string>

#include "file/prefixed_name.h"

namespace headrace::file {
namespace {

TEST(PrefixedName, IsThePathWithoutAPrefix) {
  EXPECT_EQ(path_of("data/out.nc"), "data/out.nc");
  EXPECT_EQ(path_of(""), "");
}

TEST(PrefixedName, LosesThePrefixOfAMountedFileSystem) {
  EXPECT_EQ(path_of("ufs:/scratch/a"), "/scratch/a");
  EXPECT_EQ(path_of("lustre:a:b"), "a:b");
  for (const std::string prefix : {"ufs", "nfs", "xfs", "lustre", "gpfs", "panfs", "bglockless"}) {
    EXPECT_EQ(path_of(prefix + ":/scratch/a"), "/scratch/a") << prefix;
  }
}

TEST(PrefixedName, KeepsColonsThatBeginNoPrefix) {
  EXPECT_EQ(path_of("run:1/out"), "run:1/out");
  EXPECT_EQ(path_of("/scratch/ufs:a"), "/scratch/ufs:a");
}

TEST(PrefixedName, IsNoPathOnAFileSystemThatIsNotMounted) {
  EXPECT_EQ(path_of("pvfs2:/a"), std::nullopt);
  EXPECT_EQ(path_of("daos:pool/a"), std::nullopt);
}

}  // namespace
}  // namespace headrace::file
