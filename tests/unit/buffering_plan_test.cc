#include <gtest/gtest.h>

#include <string>

#include "buffering/buffer_plan.h"

namespace headrace::buffering {
namespace {

/// All of it, as text that is easy to compare.
std::string read(std::string_view text) {
  std::string all;
  for (const BufferRule& rule : read_buffer_plan(text).rules) {
    all += (all.empty() ? "<" : " <") + rule.pattern + "> " + std::to_string(rule.shape.count) +
           "x" + std::to_string(rule.shape.size) + "+" + std::to_string(rule.shape.prefetch) +
           (rule.shape.is_verbose ? "v" : "");
  }
  return all;
}

std::vector<std::string> problems(std::string_view text) {
  return read_buffer_plan(text).problems;
}

TEST(BufferPlan, IsReadAsCrayWritesIt) {
  EXPECT_EQ(read("*"), "<*> 4x1048576+1");
  EXPECT_EQ(read("*.out:size=16M:count=2:prefetch=0:verbose,in?:count=3"),
            "<*.out> 2x16777216+0v <in?> 3x1048576+1");
  EXPECT_EQ(read("a:count=1"), "<a> 1x1048576+0") << "nothing can be read ahead";
  EXPECT_EQ(read("a:size=5000"), "<a> 4x8192+1") << "whole pages";
  EXPECT_EQ(read(" a : count=2 , b"), "<a> 2x1048576+1 <b> 4x1048576+1");
  EXPECT_EQ(read("/a\\:b\\,c:count=2"), "</a:b,c> 2x1048576+1");
  EXPECT_EQ(read("a\\*"), "<a\\*> 4x1048576+1") << "the pattern's own";
  EXPECT_EQ(read("*.[c,h]:count=2,[!:]"), "<*.[c,h]> 2x1048576+1 <[!:]> 4x1048576+1");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read(",,a,"), "<a> 4x1048576+1");
  EXPECT_TRUE(problems("*.out:size=16M:count=2:prefetch=0:verbose,,in?:count=3,").empty());
}

TEST(BufferPlan, KeepsWhatIsRightBesideWhatIsWrong) {
  const std::string text = "a:size=x:count=2,b:cuont=3,c:lazyclose:count=3,:count=2,d:count=0";
  EXPECT_EQ(read(text), "<a> 2x1048576+1 <b> 4x1048576+1 <c> 3x1048576+1 <d> 4x1048576+1");
  const std::vector<std::string> found = problems(text);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0],
            "character 3: size 'x' is not a size (write digits and k, m or g, such as 512k)");
  EXPECT_EQ(found[1],
            "character 20: 'cuont=3' is ignored (no such word is known), write "
            "size=, count=, prefetch= or verbose");
  EXPECT_EQ(found[2],
            "character 30: 'lazyclose' is ignored (a close must report writes that "
            "failed), leave it out");
  EXPECT_EQ(found[3],
            "character 48: ':' is ignored (it has no pattern), write * for all "
            "files");
  EXPECT_EQ(found[4], "character 59: count '0' is out of range (1 to 1024)");
}

TEST(BufferPlan, TellsLittleOfMuch) {
  std::string text;
  while (text.size() < (1U << 20)) text += "a:b,";
  const std::vector<std::string> found = problems(text);
  ASSERT_EQ(found.size(), 21U);
  EXPECT_EQ(found.back(), "262124 more faults are not named, mend those above first");
}

TEST(BufferPlan, FindsTheFirstPattern) {
  const BufferPlan plan = read_buffer_plan("/scratch/*:count=2,f:count=3,*.h5:count=5");
  EXPECT_EQ(plan.find("f", "/scratch/f")->shape.count, 2);
  EXPECT_EQ(plan.find("f", "/home/f")->shape.count, 3);
  EXPECT_EQ(plan.find("./g.h5", "/home/g.h5")->shape.count, 5);
  EXPECT_EQ(plan.find("g", "/home/g"), nullptr);
}

TEST(BufferPlan, StaysWithinItsMemory) {
  const BufferShape shape{.size = 1 << 20, .count = 8, .prefetch = 4};
  EXPECT_EQ(limited(shape, 64 << 20).count, 8);
  EXPECT_EQ(limited(shape, 3 << 20).count, 3);
  EXPECT_EQ(limited(shape, 3 << 20).prefetch, 2);
  EXPECT_EQ(limited(shape, 100'000).size, 98'304);
  EXPECT_EQ(limited(shape, 100'000).count, 1);
  EXPECT_EQ(limited(shape, 100).count, 0);
}

TEST(BufferPlan, IsShown) {
  EXPECT_EQ(text_of({}), "4 of 1.0 MiB, 1 read ahead");
}

}  // namespace
}  // namespace headrace::buffering
