#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/spelling.h"
#include "unit/lacking.h"

namespace headrace {
namespace {

TEST(SystemFailure, SaysProblemReasonAndAdvice) {
  const Error error = system_failure(ENOSPC, "cannot write to 'f'");
  EXPECT_EQ(error.error_class, ErrorClass::no_space);
  EXPECT_EQ(error.system_error, ENOSPC);
  EXPECT_EQ(error.message,
            "cannot write to 'f' (No space left on device), free some space or write elsewhere");
  EXPECT_TRUE(static_cast<bool>(error));
  EXPECT_EQ(system_failure(ENOSPC, "cannot write to", "f").message, error.message);
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

/// An error on its way to the program must not be lost to another, that of lacking memory.
static_assert(std::is_nothrow_copy_constructible_v<Error>);
static_assert(std::is_nothrow_copy_assignable_v<Error>);
static_assert(std::is_nothrow_move_constructible_v<Error>);
static_assert(std::is_nothrow_move_assignable_v<Error>);
static_assert(std::is_nothrow_constructible_v<Error, ErrorClass, int, const char*>);
static_assert(noexcept(system_failure(EIO, "cannot read")));

TEST(Error, IsMadeOfParts) {
  const std::string path = "a/b";
  const Error error{ErrorClass::io, 0, {"cannot move '", path, "'"}};
  EXPECT_EQ(error.message, "cannot move 'a/b'");
  EXPECT_EQ((Error{ErrorClass::io, 0, {}}).message, "");
}

TEST(Error, HasItsClassAloneWhereThereIsNoMemoryForItsText) {
  const std::string path = "a file with a long name";
  const Error kept = system_failure(ENOSPC, "cannot write to", path);
  ASSERT_FALSE(kept.message.empty());
  Error copied;
  Error assigned{ErrorClass::io, EIO, "cannot read what is long enough"};
  Error made;
  Error of_parts;
  Error of_literal;
  {
    const allocation::Lacking memory;
    copied = Error(kept);
    assigned = kept;
    made = system_failure(EDQUOT, "cannot write to", path);
    of_parts = {ErrorClass::access, EACCES, {"cannot open '", path, "'"}};
    of_literal = {ErrorClass::count, 0, "the count is negative, use 0 or more"};
  }
  for (const Error* const error : {&copied, &assigned}) {
    EXPECT_EQ(error->error_class, ErrorClass::no_space);
    EXPECT_EQ(error->system_error, ENOSPC);
    EXPECT_EQ(error->message, "");
  }
  EXPECT_EQ(made.error_class, ErrorClass::quota);
  EXPECT_EQ(of_parts.error_class, ErrorClass::access);
  EXPECT_EQ(of_literal.error_class, ErrorClass::count);
  EXPECT_FALSE(kept.message.empty());
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
