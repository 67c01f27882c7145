#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "storage/absolute_name.h"

namespace headrace::storage {
namespace {

TEST(JoinedName, puts_the_folder_before_what_is_relative) {
  EXPECT_EQ(joined_name("/a/b", "file"), "/a/b/file");
  EXPECT_EQ(joined_name("/a/b", "c/file"), "/a/b/c/file");
  EXPECT_EQ(joined_name("/a/b", "././file"), "/a/b/file");
  EXPECT_EQ(joined_name("/", "file"), "/file");
}

// What ".." means is known to the system alone: a folder may be a symbolic link.
TEST(JoinedName, leaves_the_rest_as_it_is) {
  EXPECT_EQ(joined_name("/a/b", "/c/file"), "/c/file");
  EXPECT_EQ(joined_name("/a/b", "../file"), "/a/b/../file");
  EXPECT_EQ(joined_name("/a/b", ".file"), "/a/b/.file");
}

TEST(AbsoluteName, begins_at_the_working_directory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path("/proc/self");
  const std::string here = std::filesystem::current_path().string();
  errno = ENOENT;
  EXPECT_EQ(absolute_name("file"), here + "/file");
  EXPECT_EQ(absolute_name("/file"), "/file");
  EXPECT_EQ(absolute_name(""), "");
  EXPECT_EQ(errno, ENOENT);
  std::filesystem::current_path(before);
}

TEST(AbsoluteName, stays_short) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path("/tmp");
  const std::string fits(123, 'f');
  EXPECT_EQ(absolute_name(fits), "/tmp/" + fits);
  EXPECT_EQ(absolute_name(fits + "f"), fits + "f");
  std::filesystem::current_path(before);
}

TEST(AbsoluteName, is_as_given_where_the_directory_has_no_name) {
  const auto before = std::filesystem::current_path();
  std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
  std::filesystem::current_path(mkdtemp(name.data()));
  std::filesystem::remove(name);
  EXPECT_EQ(absolute_name("file"), "file");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headrace::storage
