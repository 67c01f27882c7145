#include <gtest/gtest.h>

#include "file/hint_display.h"
#include "file/hint_sources.h"

namespace headrace::file {
namespace {

HintSources sources(const std::string& hints, std::vector<const char*> environment = {}) {
  Settings settings;
  settings.hints = hints;
  settings.hints_file = "/dev/null";
  environment.push_back(nullptr);
  SettingsFile site = parse_settings_file("[hints]\ncb_nodes = 1\n", "/site");
  SettingsFile user = parse_settings_file("[hints.\"*.h5\"]\ncb_nodes = 2\n", "/user");
  return make_hint_sources(settings, site, user, environment.data());
}

TEST(HintSources, ComeFromTheSiteToTheEnvironment) {
  const HintSources all = sources("bad,*:cb_nodes=3", {"OMPI_MCA_io_ompio_num_aggregators=4"});
  std::vector<std::string> names;
  for (const HintSource& source : all.list) names.push_back(source.shown);
  EXPECT_EQ(names,
            (std::vector<std::string>{"the site's '/site'", "the user's '/user'", "'/dev/null'",
                                      "OMPI_MCA_io_ompio_num_aggregators", "HEADRACE_HINTS"}));
  EXPECT_EQ(all.list[0].settings, Origin::site);
  EXPECT_EQ(all.list[1].settings, Origin::user);
  EXPECT_EQ(all.list[2].settings, Origin::fallback);
  EXPECT_EQ(all.list[4].settings, Origin::environment);
  ASSERT_EQ(all.problems.size(), 1U);
  EXPECT_TRUE(all.problems[0].starts_with("HEADRACE_HINTS: 'bad' at character 1 "))
      << all.problems[0];
}

/// What the environment alone asks for: each variable with its hints, a + where it counts over the
/// program.
std::string variables(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  std::vector<std::string> problems;
  const Settings settings = read_settings(environment.data(), problems);
  std::string all;
  for (const HintSource& source : make_hint_sources(settings, {}, {}, environment.data()).list) {
    if (!source.names_unmatched || source.shown.starts_with('\'')) continue;
    all += source.shown + (source.counts_over_program ? "+" : "");
    for (const PatternHints& one : source.hints) {
      for (const auto& [name, value] : one.hints) all += " " + name + "=" + value;
    }
    all += ";";
  }
  return all;
}

TEST(HintSources, AreBothVariables) {
  const char* const own = "HEADRACE_HINTS=*:a=1";
  const char* const crays = "MPICH_MPIIO_HINTS=*:b=2";
  EXPECT_EQ(variables({own, crays}), "HEADRACE_HINTS a=1;MPICH_MPIIO_HINTS+ b=2;");
  EXPECT_EQ(variables({crays}), "HEADRACE_HINTS;MPICH_MPIIO_HINTS+ b=2;");
  EXPECT_EQ(variables({own}), "HEADRACE_HINTS a=1;");
  EXPECT_EQ(variables({own, "MPICH_MPIIO_HINTS="}), "HEADRACE_HINTS a=1;");
  EXPECT_EQ(variables({own, crays, "HEADRACE_HINTS_OVERRIDE=0"}),
            "HEADRACE_HINTS a=1;MPICH_MPIIO_HINTS b=2;");
  EXPECT_EQ(variables({own, crays, "HEADRACE_HINTS_OVERRIDE=1"}),
            "HEADRACE_HINTS+ a=1;MPICH_MPIIO_HINTS+ b=2;");
  EXPECT_EQ(variables({"HEADRACE_HINTS=", crays}), "HEADRACE_HINTS;") << "switches both off";
}

TEST(HintSources, TellOfAFileThatIsNotRead) {
  const auto idle = [](std::vector<const char*> environment) {
    environment.push_back(nullptr);
    std::vector<std::string> problems;
    const Settings settings = read_settings(environment.data(), problems);
    return make_hint_sources(settings, {}, {}, environment.data()).idle;
  };
  const char* const own = "HEADRACE_HINTS_FILE=/dev/null";
  EXPECT_EQ(
      idle({own, "ROMIO_HINTS=/x"}),
      std::vector<std::string>{"ROMIO_HINTS has no effect (HEADRACE_HINTS_FILE names the file)"});
  EXPECT_TRUE(idle({own, "ROMIO_HINTS=/dev/null"}).empty());
  EXPECT_TRUE(idle({"ROMIO_HINTS=/dev/null"}).empty());
}

TEST(HintSources, GiveTheFirstPatternThatMatches) {
  const HintSources all = sources("b.*:a=1,*/b.h5:a=2,*:a=3");
  const HintSource& own = all.list.back();
  EXPECT_EQ(find_pattern(own, "b.h5", "/x/b.h5")->pattern, "b.*");
  EXPECT_EQ(find_pattern(own, "../x/b.h5", "/x/b.h5")->pattern, "*/b.h5");
  EXPECT_EQ(find_pattern(own, "c", "/x/c")->pattern, "*");
  EXPECT_EQ(find_pattern(all.list[0], "c", "/x/c"), nullptr);
}

TEST(ForeignVariables, BecomeHintsOrAreNamed) {
  const std::vector<const char*> environment{"OMPI_MCA_fs_lustre_stripe_size=4194304",
                                             "OMPI_MCA_fcoll=individual",
                                             "OMPI_MCA_io=ompio",
                                             "I_MPI_EXTRA_FILESYSTEM_FORCE=lustre",
                                             "OMPI_MCA_io_ompio_num_aggregators=-1",
                                             "OMPI_MCA_btl=self",
                                             "PATH=/bin",
                                             nullptr};
  const ForeignVariables found = read_foreign_variables(environment.data());
  EXPECT_EQ(found.hints, (Hints{{"collective_buffering", "false"}, {"striping_unit", "4194304"}}));
  EXPECT_EQ(found.names,
            (std::vector<std::string>{"OMPI_MCA_fcoll", "OMPI_MCA_fs_lustre_stripe_size"}));
  ASSERT_EQ(found.idle.size(), 2U);
  EXPECT_TRUE(found.idle[0].starts_with("I_MPI_EXTRA_FILESYSTEM_FORCE has no effect ("));
  const std::vector<const char*> cray{"MPICH_MPIIO_ABORT_ON_RW_ERROR=enable", "MPICH_MPIIO_X=1",
                                      "MPICH_MPIIO_STATS=1", "MPICH_MPIIO_HINTS=*:cb_nodes=1",
                                      nullptr};
  const ForeignVariables of_cray = read_foreign_variables(cray.data());
  EXPECT_EQ(of_cray.hints, (Hints{{"abort_on_rw_error", "enable"}}));
  ASSERT_EQ(of_cray.idle.size(), 1U);
  EXPECT_TRUE(of_cray.idle[0].starts_with("MPICH_MPIIO_X has no effect (")) << of_cray.idle[0];
  const std::vector<const char*> other{"OMPI_MCA_fcoll=vulcan", nullptr};
  EXPECT_TRUE(read_foreign_variables(other.data()).hints.empty());
  EXPECT_EQ(read_foreign_variables(other.data()).idle.size(), 1U);
}

TEST(HintDisplay, TellsWhereEachValueComesFrom) {
  const HintsKnown known{
      {{"cb_nodes", "4"},
       {"cb_buffer_size", "65536"},
       {"ind_rd_buffer_size", "1048576"},
       {"romio_cb_write", "enable"},
       {"romio_ds_write", "enable"},
       {"striping_unit", "4096"},
       {"headrace_file_system", "ext4"},
       {"headrace_striping", "none"},
       {"headrace_corrections", "cb_nodes=8 counts as 4"}},
      {{"cb_nodes", "8"}, {"cb_buffer_size", "3k"}, {"romio_ds_write", "enable"}},
      {{"cb_nodes", "the program"},
       {"cb_buffer_size", "HEADRACE_HINTS, pattern '*'"},
       {"romio_ds_write", "the program"}},
      "they may",
      "built in"};
  EXPECT_EQ(explain_hints("/a\nb", known),
            "hints of '/a?b' on ext4:\n"
            "  cb_buffer_size = 65536 (HEADRACE_HINTS, pattern '*'; asked for 3k, but buffers are "
            "whole pages, and stripes or equal parts of them, from 64 KiB to 1 GiB; between nodes, "
            "no more stripes than one aggregator has in turn)\n"
            "  cb_nodes = 4 (the program; asked for 8, but there are no more ranks)\n"
            "  ind_rd_buffer_size = 1048576 (default)\n"
            "  romio_ds_write = enable (the program; no effect, since Headrace never reads bytes "
            "of others to write them back)\n"
            "  striping_unit = 4096 (the file system)\n"
            "  striping: none\n"
            "  corrected: cb_nodes=8 counts as 4\n"
            "  nodes: they may\n"
            "  costs: built in");
}

/// The line on a hint that the program gave as `asked`, of which `value` is in force.
std::string line_of(const std::string& name, const std::string& asked, const std::string& value,
                    const Hints& others = {}) {
  HintsKnown known{others, {{name, asked}}, {{name, "the program"}}};
  known.in_force[name] = value;
  const std::string text = explain_hints("/a", known);
  const auto begin = text.find("\n  " + name);
  return text.substr(begin + 3, text.find('\n', begin + 1) - begin - 3);
}

TEST(HintDisplay, TellsOfEachHintWhatActs) {
  EXPECT_EQ(line_of("ind_rd_buffer_size", "64k", "65536"),
            "ind_rd_buffer_size = 65536 (the program)");
  EXPECT_EQ(line_of("ind_rd_buffer_size", "0", "1048576"),
            "ind_rd_buffer_size = 1048576 (the program; asked for 0, which changes nothing)");
  EXPECT_EQ(line_of("ind_rd_buffer_size", "2g", "1073741824"),
            "ind_rd_buffer_size = 1073741824 (the program; asked for 2g, but it is kept within 4 "
            "KiB and 1 GiB)");
  EXPECT_EQ(line_of("romio_cb_write", "Enable", "enable"), "romio_cb_write = enable (the program)");
  EXPECT_EQ(
      line_of("romio_cb_write", "enable", "disable"),
      "romio_cb_write = disable (the program; asked for enable, but another hint overrides it)");
  EXPECT_EQ(
      line_of("access_style", "read_once", "read_once"),
      "access_style = read_once (the program; no effect, since the kernel drops first what is used "
      "once)");
  EXPECT_EQ(line_of("access_style", "write_mostly", "write_mostly"),
            "access_style = write_mostly (the program; no effect, since each call tells what it "
            "does)");
  EXPECT_EQ(line_of("access_style", "reverse_sequential", "reverse_sequential"),
            "access_style = reverse_sequential (the program; no effect, since the kernel takes no "
            "such advice)");
  EXPECT_EQ(line_of("access_style", "read_once,sequential", "read_once,sequential"),
            "access_style = read_once,sequential (the program)");
  const Hints refused{{"headrace_striping", "not applied (for some reason)"}};
  EXPECT_EQ(line_of("striping_factor", "4", "4", refused),
            "striping_factor = 4 (the program; no effect, see striping)");
  EXPECT_EQ(line_of("start_iodevice", "4", "4", refused),
            "start_iodevice = 4 (the program; no effect, see striping)");
  EXPECT_EQ(line_of("striping_unit", "1m", "1048576", refused),
            "striping_unit = 1048576 (the program; for collective buffers only, see striping)");
  EXPECT_EQ(line_of("striping_factor", "4", "4", {{"headrace_striping", "applied when"}}),
            "striping_factor = 4 (the program)");
}

TEST(HintDisplay, CountsNoMoreAggregatorsThanRanks) {
  EXPECT_EQ(hints_in_force({{"cb_nodes", "8"}}, {}, 2, 4096).at("cb_nodes"), "2");
  EXPECT_EQ(hints_in_force({{"cb_nodes", "2"}}, {}, 8, 4096).at("cb_nodes"), "2");
  EXPECT_FALSE(hints_in_force({}, {}, 8, 4096).contains("cb_nodes"));
}

}  // namespace
}  // namespace headrace::file
