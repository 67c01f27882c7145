#include <gtest/gtest.h>

#include "storage/gluster.h"

namespace headrace::storage {
namespace {

/// As a client of GlusterFS 10 tells them below `.meta`, shortened.
std::string volume_file(const std::string& more = {}) {
  return "volume spread-client-0\n    type protocol/client\n    option remote-host 10.98.0.14\n"
         "end-volume\n\nvolume spread-disperse-0\n    type cluster/disperse\n"
         "    option redundancy 1\n    subvolumes spread-client-0 spread-client-1\nend-volume\n" +
         more +
         "volume spread-open-behind\n    type performance/open-behind\nend-volume\n"
         "volume spread-io-threads\n    type performance/io-threads\nend-volume\n"
         "volume meta-autoload\n    type meta\n    subvolumes spread\nend-volume\n\n";
}

std::string command_line(const std::string& options) {
  return "{ \n  \"Cmdlinestr\": \"glusterfs --volfile-id=spread " + options + " /mnt\"\n}\n";
}

constexpr const char* kKeepsNothing = "--direct-io-mode=enable --attribute-timeout=0";

bool is_coherent(const std::string& volume, const std::string& options) {
  return parse_gluster_volume(volume, command_line(options)).is_coherent;
}

TEST(GlusterVolume, IsCoherentWhereNeitherKernelNorClientKeepAnything) {
  EXPECT_TRUE(is_coherent(volume_file(), kKeepsNothing));
  EXPECT_TRUE(is_coherent(volume_file(), "--attribute-timeout=0 --direct-io-mode=on"));
  EXPECT_FALSE(is_coherent(volume_file(), ""));
  EXPECT_FALSE(is_coherent(volume_file(), "--direct-io-mode=enable"));
  EXPECT_FALSE(is_coherent(volume_file(), "--attribute-timeout=0"));
  EXPECT_FALSE(is_coherent(volume_file(), "--attribute-timeout=0 --direct-io-mode=disable"));
  EXPECT_FALSE(is_coherent(volume_file(), "--attribute-timeout=0.5 --direct-io-mode=enable"));
}

TEST(GlusterVolume, IsNotCoherentWithTranslatorsThatMayKeepData) {
  for (const char* const kind :
       {"write-behind", "io-cache", "quick-read", "read-ahead", "md-cache", "something-new"}) {
    const std::string more =
        std::string("volume spread-x\n    type performance/") + kind + "\nend-volume\n";
    EXPECT_FALSE(is_coherent(volume_file(more), kKeepsNothing)) << kind;
  }
}

TEST(GlusterVolume, TellsWhetherAWriterLocksTheFile) {
  EXPECT_TRUE(parse_gluster_volume(volume_file(), "").locks_whole_files);
  EXPECT_TRUE(parse_gluster_volume("type cluster/replicate\n", "").locks_whole_files);
  EXPECT_FALSE(parse_gluster_volume("type cluster/distribute\n", "").locks_whole_files);
}

TEST(GlusterVolume, TellsItsShards) {
  const auto shard = [](const std::string& options) {
    return parse_gluster_volume(volume_file("volume s\n    type features/shard\n" + options), "")
        .shard;
  };
  EXPECT_EQ(shard("    option shard-block-size 4MB\n"), 4 << 20);
  EXPECT_EQ(shard("    option shard-block-size 8388608\n"), 8 << 20);
  EXPECT_EQ(shard(""), 64 << 20) << "its default";
  EXPECT_EQ(shard("    option shard-block-size many\n"), 64 << 20);
  EXPECT_EQ(shard("    option shard-block-size 9999999999999TB\n"), 64 << 20);
  EXPECT_EQ(parse_gluster_volume(volume_file("    option shard-block-size 4MB\n"), "").shard, 0);
}

TEST(GlusterVolume, IsNotKnownFromWhatIsNone) {
  EXPECT_EQ(parse_gluster_volume("", command_line(kKeepsNothing)), GlusterVolume{});
  EXPECT_EQ(parse_gluster_volume("option shard-block-size 4MB\n", ""), GlusterVolume{});
  EXPECT_FALSE(gluster_volume("/nowhere"));
}

}  // namespace
}  // namespace headrace::storage
