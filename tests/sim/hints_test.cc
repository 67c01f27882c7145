#include <gtest/gtest.h>

#include "sim/runner.h"

// Hints that a file tells of, as MPI_File_get_info asks.

namespace headrace::sim {
namespace {

std::unique_ptr<engine::File> open(const std::shared_ptr<exchange::Team>& team,
                                   storage::FileSystem& files, const engine::Hints& hints) {
  auto file = engine::File::open(team, files, "file", {.write = true, .create = true}, hints);
  EXPECT_TRUE(file);
  return std::move(file.value());
}

TEST(Hints, AreThoseGivenLast) {
  Disk disk(0);
  run_ranks({"a", "a"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, {{"cb_nodes", "2"}, {"striping_factor", "3"}});
    EXPECT_EQ(file->hints().at("cb_nodes"), "2");
    EXPECT_FALSE(file->set_hints({{"cb_nodes", "4"}}));
    EXPECT_EQ(file->hints().at("cb_nodes"), "4");
    EXPECT_EQ(file->hints().at("striping_factor"), "3");
    // What cannot be used changes nothing.
    EXPECT_FALSE(file->set_hints({{"cb_nodes", "four"}}));
    EXPECT_EQ(file->hints().at("cb_nodes"), "4");
    const view::TypePtr byte = view::make_basic(1);
    EXPECT_FALSE(file->set_view(engine::View{0, byte, byte}, {{"cb_nodes", "1"}}));
    EXPECT_EQ(file->hints().at("cb_nodes"), "1");
    EXPECT_FALSE(file->close());
  });
}

TEST(Hints, OfAViewThatIsRefusedDoNotCount) {
  Disk disk(0);
  run_ranks({"a", "a"}, disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, {{"cb_nodes", "2"}});
    const engine::Hints before = file->hints();
    const view::TypePtr byte = view::make_basic(1);
    const FileOffset displacement = rank == 0 ? 0 : -1;
    EXPECT_TRUE(file->set_view(engine::View{displacement, byte, byte},
                               {{"cb_nodes", "1"}, {"romio_lustre_co_ratio", "2"}}));
    EXPECT_EQ(file->hints(), before);
    EXPECT_FALSE(file->close());
  });
}

}  // namespace
}  // namespace headrace::sim
