#include <gtest/gtest.h>

#include "file/common_hints.h"

namespace headrace::file {
namespace {

TEST(CommonHints, AreToldApart) {
  const HintValues usual = default_hint_values();
  const std::int64_t print = fingerprint_of(common_hints(usual));
  EXPECT_EQ(fingerprint_of(common_hints(usual)), print);
  const auto changed = [&](auto change) {
    HintValues other = usual;
    change(other);
    return fingerprint_of(common_hints(other));
  };
  EXPECT_NE(changed([](HintValues& other) { other.write_path = policy::PathHint::staged; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.read_path = policy::PathHint::staged; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.buffer_size += 1; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.striping_unit = 4096; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.striping_factor = 4; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.alignment = plan::Alignment::even; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.aggregators.count = 2; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.aggregators.multiplier = 2; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.aggregators.most_for_object = 2; }), print);
  EXPECT_NE(changed([](HintValues& other) { other.lock_ahead = true; }), print);
  EXPECT_NE(
      changed([](HintValues& other) { other.hosts = plan::ConfigList::parse("*:1").value(); }),
      changed([](HintValues& other) { other.hosts = plan::ConfigList::parse("*:2").value(); }));
}

TEST(CommonHints, AboutStripesCountWhereTheFileSystemTellsNone) {
  HintValues wanted;
  wanted.striping_unit = 1 << 16;
  wanted.striping_factor = 4;
  const CommonHints hints = common_hints(wanted);
  EXPECT_EQ(stripes_of({}, hints), (Stripes{1 << 16, 4}));
  EXPECT_EQ(stripes_of({.stripes = {1 << 20, 8}}, hints), (Stripes{1 << 20, 8}));
  EXPECT_EQ(stripes_of({.stripes = {1 << 20, 1}, .is_endless = true}, hints),
            (Stripes{1 << 20, 0}));
  EXPECT_EQ(stripes_of({.stripes = {1000, 8}}, hints), (Stripes{1 << 16, 4}));
  wanted.striping_unit = 1000;
  EXPECT_EQ(stripes_of({}, common_hints(wanted)), Stripes{});
}

TEST(CommonHints, ThatDifferAreNamed) {
  Differences different{};
  EXPECT_TRUE(explain_differences(different, 8).empty());
  different[kHosts] = 3;
  different[kMimicCount] = 7;
  const std::vector<std::string> lines = explain_differences(different, 8);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0],
            "cb_config_list is not the same on all ranks (3 of 8 differ from the first), each "
            "node's first rank's counts there");
  EXPECT_EQ(lines[1],
            "HEADRACE_MIMIC_STRIPES is not the same on all ranks (7 of 8 differ from the first), "
            "the first rank's counts for all");
}

}  // namespace
}  // namespace headrace::file
