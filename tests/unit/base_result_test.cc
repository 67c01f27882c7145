#include <gtest/gtest.h>

#include <cerrno>
#include <string_view>

#include "base/result.h"
#include "base/spelling.h"

namespace headrace {
namespace {

TEST(SystemFailure, SaysProblemReasonAndAdvice) {
  const Error error = system_failure(ENOSPC, "cannot write to 'f'");
  EXPECT_EQ(error.error_class, ErrorClass::no_space);
  EXPECT_EQ(error.system_error, ENOSPC);
  EXPECT_EQ(error.message,
            "cannot write to 'f' (No space left on device), free some space or write elsewhere");
  EXPECT_TRUE(static_cast<bool>(error));
}

TEST(SystemFailure, HasAClassForEveryErrno) {
  EXPECT_EQ(system_failure(EDQUOT, "").error_class, ErrorClass::quota);
  EXPECT_EQ(system_failure(EACCES, "").error_class, ErrorClass::access);
  EXPECT_EQ(system_failure(EROFS, "").error_class, ErrorClass::read_only);
  EXPECT_EQ(system_failure(EXDEV, "").error_class, ErrorClass::io) << "one that is not listed";
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  ASSERT_TRUE(good);
  EXPECT_EQ(good.value(), 3);
  const Result<int> bad = system_failure(EIO, "cannot read");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().error_class, ErrorClass::io);
  EXPECT_FALSE(static_cast<bool>(Error{}));
}

TEST(NearestName, FindsOneThatIsMeant) {
  constexpr std::string_view kNames[] = {"cb_buffer_size", "cb_nodes", "striping_unit"};
  EXPECT_EQ(nearest_name("cb_bufer_size", kNames), "cb_buffer_size");
  EXPECT_EQ(nearest_name("stripping_unit", kNames), "striping_unit");
  EXPECT_EQ(nearest_name("cb_node", kNames), "cb_nodes");
  EXPECT_EQ(nearest_name("access", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}

}  // namespace
}  // namespace headrace
