#include <gtest/gtest.h>

#include "engine/hints.h"

namespace headrace::engine {
namespace {

struct Applied {
  HintValues values = default_hint_values();
  std::vector<std::string> problems;
  Hints good;

  explicit Applied(const Hints& hints) { good = apply_hints(hints, values, problems); }
};

TEST(Hints, UnknownOnesAreNamedWithWhatWasMeant) {
  const Applied applied(Hints{{"cb_bufer_size", "1m"}, {"xyzzy", "1"}});
  EXPECT_TRUE(applied.good.empty());
  ASSERT_EQ(applied.problems.size(), 2U);
  EXPECT_NE(applied.problems[0].find("did you mean 'cb_buffer_size'"), std::string::npos)
      << applied.problems[0];
  EXPECT_NE(applied.problems[1].find("xyzzy"), std::string::npos);
  EXPECT_EQ(applied.problems[1].find("did you mean"), std::string::npos);
}

TEST(Hints, MalformedOnesAreIgnoredAndNamed) {
  const HintValues before = default_hint_values();
  for (const Hints& hints : {Hints{{"cb_buffer_size", "big"}}, Hints{{"romio_cb_write", "maybe"}},
                             Hints{{"headrace_read_path", "sideways"}}, Hints{{"cb_nodes", "x"}},
                             Hints{{"collective_buffering", "perhaps"}}}) {
    const Applied applied(hints);
    EXPECT_TRUE(applied.good.empty());
    ASSERT_EQ(applied.problems.size(), 1U) << hints.begin()->first;
    EXPECT_NE(applied.problems[0].find(hints.begin()->first), std::string::npos);
    EXPECT_EQ(applied.values.buffer_size, before.buffer_size);
    EXPECT_EQ(applied.values.write_path, before.write_path);
    EXPECT_EQ(applied.values.read_path, before.read_path);
  }
}

TEST(Hints, PathsAreObeyedUnderAllTheirNames) {
  EXPECT_EQ(Applied(Hints{{"headrace_write_path", "staged"}}).values.write_path,
            policy::Wish::staged);
  EXPECT_EQ(Applied(Hints{{"romio_cb_write", "disable"}}).values.write_path, policy::Wish::direct);
  EXPECT_EQ(Applied(Hints{{"romio_cb_read", "enable"}}).values.read_path, policy::Wish::staged);
  const Applied both(Hints{{"collective_buffering", "false"}});
  EXPECT_EQ(both.values.write_path, policy::Wish::direct);
  EXPECT_EQ(both.values.read_path, policy::Wish::direct);
  EXPECT_EQ(Applied(Hints{{"headrace_write_path", "direct"}, {"romio_cb_write", "enable"}})
                .values.write_path,
            policy::Wish::direct)
      << "our own name comes first";
}

TEST(Hints, SizesAreKeptWithinWhatMakesSense) {
  EXPECT_EQ(Applied(Hints{{"cb_buffer_size", "4194304"}}).values.buffer_size, 4'194'304);
  EXPECT_EQ(Applied(Hints{{"cb_buffer_size", "1"}}).values.buffer_size, 65'536);
  EXPECT_EQ(Applied(Hints{{"striping_unit", "1m"}}).values.striping_unit, 1 << 20);
  EXPECT_EQ(Applied(Hints{{"ind_rd_buffer_size", "100"}}).values.sieve_size, 4'096);
}

TEST(Hints, WhatIsReturnedCanBeGivenAgain) {
  const Applied first(Hints{{"romio_cb_write", "enable"}, {"cb_buffer_size", "131072"}});
  const Applied second(hints_of(first.values));
  EXPECT_TRUE(second.problems.empty()) << second.problems.front();
  EXPECT_EQ(second.values.write_path, policy::Wish::staged);
  EXPECT_EQ(second.values.buffer_size, 131'072);
  EXPECT_EQ(hints_of(second.values), hints_of(first.values));
}

}  // namespace
}  // namespace headrace::engine
