#include <gtest/gtest.h>

#include <string>

#include "base/name_pattern.h"

namespace headrace {
namespace {

TEST(NamePattern, MatchesAsAShellDoesButForSlashes) {
  EXPECT_TRUE(matches("*", "/any/thing"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("/scratch/*.h5", "/scratch/a/b.h5"));
  EXPECT_FALSE(matches("/scratch/*.h5", "/scratch/a/b.h5.bak"));
  EXPECT_TRUE(matches("wrfout_d0[1-3]_*", "wrfout_d02_2026"));
  EXPECT_FALSE(matches("wrfout_d0[1-3]_*", "wrfout_d04_2026"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_TRUE(matches("[!a-c]x", "dx"));
  EXPECT_FALSE(matches("[^a-c]x", "bx"));
  EXPECT_TRUE(matches("[]a]", "]"));
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
  EXPECT_TRUE(matches("odd[name", "odd[name"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("file1", "./file1"));
}

TEST(NamePattern, TakesLittleTimeHoweverManyStars) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(4000, 'a')));
  EXPECT_FALSE(matches(std::string(1 << 20, '*'), "a"));
}

}  // namespace
}  // namespace headrace
