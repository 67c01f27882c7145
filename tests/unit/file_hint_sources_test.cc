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
  const HintsKnown known{{{"cb_nodes", "8"},
                          {"cb_buffer_size", "65536"},
                          {"ind_rd_buffer_size", "1048576"},
                          {"romio_cb_write", "enable"},
                          {"romio_ds_write", "enable"},
                          {"striping_unit", "4096"},
                          {"headrace_file_system", "ext4"},
                          {"headrace_striping", "none"},
                          {"headrace_corrections", "cb_nodes=8 counts as 4"}},
                         {{"cb_nodes", "8"},
                          {"cb_buffer_size", "1"},
                          {"ind_rd_buffer_size", "1048576"},
                          {"romio_ds_write", "enable"}},
                         {{"cb_nodes", "the program"},
                          {"cb_buffer_size", "HEADRACE_HINTS, pattern '*'"},
                          {"romio_ds_write", "the program"}}};
  EXPECT_EQ(explain_hints("/a\nb", known),
            "hints of '/a?b' on ext4:\n"
            "  cb_buffer_size = 65536 (corrected, since buffers are whole pages, and stripes or "
            "equal parts of them; HEADRACE_HINTS, pattern '*' asked for 1)\n"
            "  cb_nodes = 8 (the program)\n"
            "  ind_rd_buffer_size = 1048576 (default)\n"
            "  romio_ds_write = enable (the program; no effect, since Headrace never reads bytes "
            "of others to write them back)\n"
            "  striping_unit = 4096 (the file system)\n"
            "  striping: none\n"
            "  corrected: cb_nodes=8 counts as 4");
}

}  // namespace
}  // namespace headrace::file
