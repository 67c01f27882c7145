#include <gtest/gtest.h>

#include <string>

#include "buffering/buffer_limit.h"
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

/// Both stand in scripts for Cray's systems.
TEST(BufferPlan, TellsOfStreamsAndOfASizeWithoutAPattern) {
  EXPECT_EQ(read("%stdout:size=2M:verbose,*:count=2,%stderr,%stdin"), "<*> 2x1048576+1");
  const std::vector<std::string> streams = problems("%stdout:size=2M:verbose,*:count=2,%stderr");
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[0],
            "character 1: '%stdout' is ignored (the C library buffers this stream), leave it out");
  EXPECT_TRUE(streams[1].starts_with("character 35: '%stderr' is ignored (")) << streams[1];
  EXPECT_EQ(read("12M:verbose"), "<12M> 4x1048576+1v") << "Cray's IOBUF has the pattern first";
  EXPECT_EQ(
      problems("12M:verbose"),
      std::vector<std::string>{"character 1: '12M' names files (a pattern comes first), write "
                               "*:size=12M if it is a size"});
  EXPECT_EQ(read("12"), "<12> 4x1048576+1");
  EXPECT_TRUE(problems("12,fort.12,mb,%out").empty());
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
  // Two small ones rather than a large one, so that one is written while the other is filled.
  EXPECT_EQ(text_of(limited({.size = 16 << 20, .count = 4, .prefetch = 2}, 20 << 20)),
            "2 of 10 MiB, 1 read ahead");
  EXPECT_EQ(limited(shape, 100'000).size, 49'152);
  EXPECT_EQ(limited(shape, 100'000).count, 2);
  EXPECT_EQ(text_of(limited({.size = 1 << 20, .count = 1, .prefetch = 0}, 100'000)),
            "1 of 96 KiB, 0 read ahead");
  EXPECT_EQ(text_of(limited(shape, 8191)), "1 of 4.0 KiB, 0 read ahead");
  EXPECT_EQ(limited(shape, 100).count, 0);
}

TEST(BufferPlan, TellsWhatWasCutAndWhatWouldAllowIt) {
  const BufferShape wanted{.size = 16 << 20, .count = 4, .prefetch = 1};
  EXPECT_EQ(cut_line(wanted, wanted, 64), "");
  EXPECT_EQ(cut_line(wanted, limited(wanted, 128 << 10), 64),
            "buffers of a file are 2 of 64 KiB instead of 4 of 16 MiB (64 ranks of a node share an "
            "eighth of HEADRACE_NODE_MEMORY, which is 64 MiB), set HEADRACE_NODE_MEMORY=32g or ask "
            "for fewer bytes in HEADRACE_IOBUF");
  // More than may be set.
  EXPECT_TRUE(cut_line(wanted, limited(wanted, 0), 1024)
                  .ends_with(", which is 64 MiB), ask for fewer bytes in HEADRACE_IOBUF"));
  EXPECT_EQ(noted_cut_line(), "");
  note_cut(wanted, wanted, 3);
  EXPECT_EQ(noted_cut_line(), "");
  note_cut(wanted, limited(wanted, 0), 3);
  EXPECT_TRUE(noted_cut_line().starts_with("buffers of a file are none instead of 4 of 16 MiB"));
  EXPECT_NE(noted_cut_line().find("set HEADRACE_NODE_MEMORY=1536m or"), std::string::npos);
}

TEST(BufferPlan, IsShown) {
  EXPECT_EQ(text_of({}), "4 of 1.0 MiB, 1 read ahead");
}

}  // namespace
}  // namespace headrace::buffering
