#include <gtest/gtest.h>

#include "file/hint_patterns.h"
#include "file/hints.h"

namespace headrace::file {
namespace {

/// All of it, as text that is easy to compare.
std::string read(std::string_view text) {
  std::string all;
  for (const PatternHints& one : parse_hint_patterns(text).hints) {
    all += (all.empty() ? "<" : " <") + one.pattern + ">";
    for (const auto& [name, value] : one.hints) all += " " + name + "=" + value;
  }
  return all;
}

std::vector<std::string> problems(std::string_view text) {
  return parse_hint_patterns(text).problems;
}

TEST(HintPatterns, AreReadAsCrayWritesThem) {
  EXPECT_EQ(read("file1:direct_io=true,file2:romio_ds_write=disable,"
                 "/scratch/me/dump.*:romio_cb_write=enable:cb_nodes=8"),
            "<file1> direct_io=true <file2> romio_ds_write=disable "
            "</scratch/me/dump.*> cb_nodes=8 romio_cb_write=enable");
  EXPECT_EQ(read(" *.nc:cb_nodes=1,\n\t*.h5:cb_nodes=2, "), "<*.nc> cb_nodes=1 <*.h5> cb_nodes=2");
  EXPECT_EQ(read(""), "");
}

TEST(HintPatterns, MayHoldColons) {
  EXPECT_EQ(read("ufs:/a/12:30/f:cb_nodes=4"), "<ufs:/a/12:30/f> cb_nodes=4");
  EXPECT_EQ(read("/a\\:b=c/f:cb_nodes=4"), "</a\\:b=c/f> cb_nodes=4");
}

TEST(HintPatterns, GiveListsAsValues) {
  EXPECT_EQ(read("*:cb_config_list=n1:2,n2:*:cb_nodes=3,f:cb_align=1"),
            "<*> cb_config_list=n1:2,n2:* cb_nodes=3 <f> cb_align=1");
  EXPECT_EQ(read("*:cb_config_list=#*:2#\n :romio_cb_read=enable,f:a=b"),
            "<*> cb_config_list=*:2 romio_cb_read=enable <f> a=b");
  EXPECT_EQ(read("*:access_style=read_once,sequential"), "<*> access_style=read_once,sequential");
  EXPECT_EQ(read("*:access_style=a\\,x:b=c"), "<*> access_style=a,x b=c");
  EXPECT_EQ(read("a[x,y]:k=v"), "<a[x,y]> k=v");
}

TEST(HintPatterns, ThatComeAgainAddTheirHints) {
  EXPECT_EQ(read("*:cray_cb_write_lock_mode=2,f:a=1,*:cray_cb_nodes_multiplier=4"),
            "<*> cray_cb_nodes_multiplier=4 cray_cb_write_lock_mode=2 <f> a=1");
  EXPECT_EQ(read("*:a=1,*:a=2"), "<*> a=2");
}

TEST(HintPatterns, NameWhatIsMalformedAndHonourTheRest) {
  EXPECT_EQ(problems("f,g:cb_nodes=2"),
            (std::vector<std::string>{"'f' at character 1 is ignored (no hints follow it), write "
                                      "PATTERN:KEY=VALUE"}));
  EXPECT_EQ(read("f,g:cb_nodes=2"), "<g> cb_nodes=2");
  // As many scripts have it.
  EXPECT_EQ(problems("*:romio_cb_write=enable,romio_ds_write=disable"),
            (std::vector<std::string>{"'romio_ds_write=disable' at character 25 is ignored (it is "
                                      "no pattern with hints), write : between hints, , between "
                                      "patterns"}));
  EXPECT_EQ(read("*:romio_cb_write=enable,romio_ds_write=disable"), "<*> romio_cb_write=enable");
  EXPECT_EQ(problems("*:cb_nodes=:cb_align=1").size(), 1U);
  EXPECT_EQ(read("*:cb_nodes=:cb_align=1"), "<*> cb_align=1");
  EXPECT_EQ(problems(":cb_nodes=1").size(), 1U);
  EXPECT_EQ(problems(std::string(5000, 'a') + ":cb_nodes=1,f:a=b").size(), 1U);
  EXPECT_EQ(problems("*:a=#b#c:d=e").size(), 1U);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "x,";
  ASSERT_EQ(problems(many).size(), 21U);
  EXPECT_EQ(problems(many).back(), "980 more faults are not named, mend those above first");
}

}  // namespace
}  // namespace headrace::file
