#include <gtest/gtest.h>

#include <string>

#include "abi/file_name.h"

namespace headrace::abi {
namespace {

TEST(FileName, IsThePathWithoutAPrefix) {
  EXPECT_EQ(path_of("data/out.nc"), "data/out.nc");
  EXPECT_EQ(path_of(""), "");
}

TEST(FileName, LosesThePrefixOfAMountedFileSystem) {
  EXPECT_EQ(path_of("ufs:/scratch/a"), "/scratch/a");
  EXPECT_EQ(path_of("lustre:a:b"), "a:b");
  for (const std::string prefix : {"ufs", "nfs", "xfs", "lustre", "gpfs", "panfs", "bglockless"}) {
    EXPECT_EQ(path_of(prefix + ":/scratch/a"), "/scratch/a") << prefix;
  }
}

TEST(FileName, KeepsColonsThatBeginNoPrefix) {
  EXPECT_EQ(path_of("run:1/out"), "run:1/out");
  EXPECT_EQ(path_of("/scratch/ufs:a"), "/scratch/ufs:a");
}

TEST(FileName, IsNoPathOnAFileSystemThatIsNotMounted) {
  EXPECT_EQ(path_of("pvfs2:/a"), std::nullopt);
  EXPECT_EQ(path_of("daos:pool/a"), std::nullopt);
}

}  // namespace
}  // namespace headrace::abi
