#include <gtest/gtest.h>

#include "file/hints.h"

namespace headrace::file {
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
            policy::PathHint::staged);
  EXPECT_EQ(Applied(Hints{{"romio_cb_write", "disable"}}).values.write_path,
            policy::PathHint::direct);
  EXPECT_EQ(Applied(Hints{{"romio_cb_read", "enable"}}).values.read_path,
            policy::PathHint::exchanged);
  const Applied both(Hints{{"collective_buffering", "false"}});
  EXPECT_EQ(both.values.write_path, policy::PathHint::direct);
  EXPECT_EQ(both.values.read_path, policy::PathHint::direct);
  EXPECT_EQ(Applied(Hints{{"headrace_write_path", "direct"}, {"romio_cb_write", "enable"}})
                .values.write_path,
            policy::PathHint::direct)
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
  EXPECT_EQ(second.values.write_path, policy::PathHint::exchanged);
  EXPECT_EQ(second.values.buffer_size, 131'072);
  EXPECT_EQ(hints_of(second.values), hints_of(first.values));
}

TEST(Hints, AboutAggregatorsAreObeyedUnderAllTheirNames) {
  const Applied applied(Hints{{"cb_align", "1"},
                              {"cb_nodes", "12"},
                              {"cray_cb_nodes_multiplier", "2"},
                              {"romio_lustre_co_ratio", "3"},
                              {"cb_config_list", "n1:2,*:1"},
                              {"cray_cb_write_lock_mode", "2"}});
  EXPECT_TRUE(applied.problems.empty());
  EXPECT_EQ(applied.values.alignment, plan::Alignment::stripes);
  EXPECT_EQ(applied.values.aggregators.count, 12);
  EXPECT_EQ(applied.values.aggregators.multiplier, 2);
  EXPECT_EQ(applied.values.aggregators.most_for_object, 3);
  EXPECT_EQ(applied.values.hosts.most_on("n1", 8), 2);
  EXPECT_EQ(applied.values.hosts.most_on("n2", 8), 1);
  EXPECT_TRUE(applied.values.lock_ahead);
  EXPECT_FALSE(Applied(Hints{{"cray_cb_write_lock_mode", "1"}}).values.lock_ahead);
  EXPECT_FALSE(Applied(Hints{{"cray_cb_write_lock_mode", "2"}, {"headrace_lock_ahead", "false"}})
                   .values.lock_ahead);
}

TEST(Hints, ABadListOfHostsIsIgnoredAndNamed) {
  const Applied applied(Hints{{"cb_config_list", "n1:x"}});
  EXPECT_TRUE(applied.good.empty());
  ASSERT_EQ(applied.problems.size(), 1U);
  EXPECT_EQ(applied.problems[0],
            "hint cb_config_list='n1:x' is no list of hosts (a count is neither a number nor * in "
            "'n1:x'; write for example *:1 or node1:2,node2:1), it is ignored");
  EXPECT_EQ(applied.values.hosts.most_on("n1", 8), 8);
}

TEST(Hints, AboutStripesBecomeAWishForANewFile) {
  const storage::StripingHints wish =
      striping_of(Applied(Hints{{"striping_factor", "8"},
                                {"striping_unit", "4m"},
                                {"romio_lustre_start_iodevice", "1"},
                                {"start_iodevice", "2"},
                                {"overstriping_count", "16"}})
                      .values);
  EXPECT_EQ(wish.stripes, (Stripes{4 << 20, 8}));
  EXPECT_EQ(wish.start_device, 2);
  EXPECT_EQ(wish.overstriping_count, 16);
  EXPECT_TRUE(striping_of(default_hint_values()).is_empty());
}

TEST(Hints, AboutAccessAreObeyed) {
  const Applied applied(Hints{{"file_perm", "0640"},
                              {"romio_ds_read", "Disable"},
                              {"access_style", "read_once,sequential"},
                              {"cb_block_size", "128k"}});
  EXPECT_TRUE(applied.problems.empty());
  EXPECT_EQ(applied.values.permissions, 0640U);
  EXPECT_FALSE(applied.values.sieves_reads);
  EXPECT_EQ(applied.values.style, storage::Style::sequential);
  EXPECT_EQ(applied.values.buffer_size, 128 << 10);
  EXPECT_EQ(Applied(Hints{{"access_style", "random"}}).values.style, storage::Style::random);
  EXPECT_EQ(
      Applied(Hints{{"cb_block_size", "128k"}, {"cb_buffer_size", "256k"}}).values.buffer_size,
      256 << 10);
  for (const char* const bad : {"", "rw-r--r--", "9", "1777", "0440", "-1"}) {
    const Applied refused(Hints{{"file_perm", bad}, {"access_style", bad}});
    EXPECT_EQ(refused.problems.size(), 2U) << bad;
    EXPECT_FALSE(refused.values.permissions.has_value()) << bad;
  }
}

TEST(Hints, TellTheLayoutThatWasFound) {
  storage::Layout layout;
  EXPECT_FALSE(hints_of(layout).contains("striping_unit"));
  layout.stripes = {1 << 20, 16};
  layout.outcome = storage::StripingOutcome::file_exists;
  const Hints hints = hints_of(layout);
  EXPECT_EQ(hints.at("striping_unit"), "1048576");
  EXPECT_EQ(hints.at("striping_factor"), "16");
  EXPECT_EQ(hints.at("headrace_file_system"), "unknown");
  EXPECT_EQ(hints.at("headrace_striping"),
            "not applied (the file was there already), delete it first");
}

}  // namespace
}  // namespace headrace::file
