#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "storage/dvs.h"
#include "storage/file_layout.h"
#include "storage/given_facts.h"
#include "storage/kinds.h"
#include "storage/mounts.h"

namespace headrace::storage {
namespace {

TEST(Kinds, AreFoundByMagicAndWhereNeededByTheMountsType) {
  const auto name = [](std::uint64_t magic, const char* type) {
    return name_of_kind(find_kind(magic, type));
  };
  EXPECT_EQ(name(0x0bd00bd0, ""), "lustre");
  EXPECT_EQ(name(0x47504653, "gpfs"), "gpfs");
  EXPECT_EQ(name(0x65735546, "fuse.glusterfs"), "glusterfs");
  EXPECT_EQ(name(0x65735546, "fuse.ceph-fuse"), "ceph");
  EXPECT_EQ(name(0x65735546, "fuse.something"), "fuse");
  EXPECT_EQ(name(0x65735546, ""), "fuse");
  EXPECT_EQ(name(0x12345678, "ext4"), "unknown");
  EXPECT_EQ(name(0, ""), "unknown");
  EXPECT_EQ(name_of_kind(-1), "unknown");
  EXPECT_EQ(name_of_kind(1'000'000), "unknown");
  EXPECT_TRUE(needs_mount(0x65735546));
  EXPECT_TRUE(needs_mount(0x6969));
  EXPECT_TRUE(needs_mount(0x0bd00bd0)) << "a layer that forwards may have the servers' number";
  EXPECT_FALSE(needs_mount(0xef53));
  EXPECT_EQ(name(0x0bd00bd0, "dvs"), "dvs");
  EXPECT_EQ(name(0x47504653, "dvs"), "dvs");
  EXPECT_EQ(name(0x6969, "dvs"), "dvs");
}

TEST(Kinds, WithAMountTypeComeBeforeThoseThatTakeAny) {
  for (const Kind& kind : kinds()) {
    const int found = find_kind(kind.magic, kind.mount_type);
    EXPECT_EQ(kinds()[found].name, kind.name);
    EXPECT_EQ(kinds()[found].mount_type, kind.mount_type);
  }
}

constexpr const char* kMounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=ro\n"
    "40 35 0:52 / /home rw shared:3 - nfs4 server:/home rw,vers=4.2,rsize=524288,wsize=1048576\n"
    "bad line\n"
    "45 35 0:52 /sub /bound rw shared:3 - nfs4 server:/home rw,vers=4.2\n"
    "43 35 0:54 / /two\\040words\\011\\9 rw - fuse.glusterfs server:v rw\n"
    "41 35 0:53 / /odd rw\n";

TEST(Mounts, AreFoundByDevice) {
  EXPECT_EQ(find_mount(kMounts, 98, 0)->type, "ext3");
  const auto home = find_mount(kMounts, 0, 52);
  ASSERT_TRUE(home);
  EXPECT_EQ(home->type, "nfs4");
  EXPECT_EQ(home->point, "/home");
  EXPECT_EQ(find_mount(kMounts, 0, 54)->point, "/two words\t\\9");
  EXPECT_EQ(home->number("wsize"), 1 << 20);
  EXPECT_EQ(home->number("vers"), std::nullopt) << "4.2 is no whole number";
  EXPECT_EQ(home->number("size"), std::nullopt);
  EXPECT_FALSE(find_mount(kMounts, 0, 53)) << "a line without its second part";
  EXPECT_FALSE(find_mount(kMounts, 9, 9));
  EXPECT_FALSE(find_mount("", 0, 21));
}

TEST(Kinds, AreRecognised) {
  // As statfs(2) and /proc/self/mountinfo tell them.
  struct Known {
    std::uint64_t magic;
    const char* type;
    const char* name;
  };
  constexpr Known kKnown[] = {{0x58465342, "xfs", "xfs"},        {0x9123683e, "btrfs", "btrfs"},
                              {0x2fc12fc1, "zfs", "zfs"},        {0x794c7630, "overlay", "overlay"},
                              {0x65735546, "fuse.daos", "daos"}, {0x19830326, "beegfs", "beegfs"},
                              {0x6969, "nfs4", "nfs"},           {0x18031977, "wekafs", "weka"},
                              {0x00c36400, "ceph", "ceph"},      {0xfe534d42, "cifs", "smb"},
                              {0x7a7a7a7a, "dvs", "dvs"}};
  for (const Known& one : kKnown) {
    EXPECT_EQ(name_of_kind(find_kind(one.magic, one.type)), one.name);
  }
  EXPECT_TRUE(needs_mount(0x7a7a7a7a)) << "what no magic number tells, the mount may";
}

TEST(Mounts, TellTheirOptions) {
  // VAST's, over NFS.
  const Mount mount{"/vast", "nfs", "rw,vers=3,rsize=1048576,wsize=524288,nconnect=16,nolock,x="};
  EXPECT_EQ(mount.number("wsize"), 524288);
  EXPECT_EQ(mount.number("nconnect"), 16);
  EXPECT_EQ(mount.text("nolock"), "");
  EXPECT_EQ(mount.text("x"), "");
  EXPECT_FALSE(mount.text("size"));
  EXPECT_FALSE(mount.number("nolock"));
}

TEST(Kinds, TellWhetherOtherNodesMayReachAFile) {
  for (const long magic : {0xef53, 0x58465342, 0x01021994, 0x794c7630}) {
    EXPECT_FALSE(may_be_shared(magic, 0)) << magic;
  }
  for (const long magic : {0x6969, 0x0bd00bd0, 0x65735546, 0x12345678, 0}) {
    EXPECT_TRUE(may_be_shared(magic, 0)) << magic;
  }
}

/// By kind and by mount point, as find_layout() does.
TEST(GivenFacts, TellWhetherOtherNodesMayReachAFile) {
  const auto is_shared = [](const char* said, long magic, unsigned minor) {
    std::string mounts = kMounts;
    return may_be_shared(magic, gnu_dev_makedev(0, minor), mounts, read_given_facts(said));
  };
  constexpr long kExt = 0xef53, kNfs = 0x6969, kFuse = 0x65735546;
  EXPECT_FALSE(is_shared("", kExt, 52));
  EXPECT_TRUE(is_shared("", kNfs, 52));
  EXPECT_TRUE(is_shared("/home:kind=lustre", kExt, 52));
  EXPECT_FALSE(is_shared("/home:kind=lustre", kExt, 53));
  EXPECT_FALSE(is_shared("/home*:kind=ext4", kNfs, 52));
  EXPECT_TRUE(is_shared("/two words?\\\\9:kind=nfs", kExt, 54)) << "escapes";
  EXPECT_FALSE(is_shared("/home:coherent=true,/home:kind=lustre", kExt, 52)) << "the first counts";
  EXPECT_TRUE(is_shared("ext4:kind=nfs", kExt, 52));
  EXPECT_FALSE(is_shared("glusterfs:kind=ext4", kFuse, 54)) << "the mount's type tells the kind";
  EXPECT_TRUE(is_shared("*:kind=nfs", kExt, 999)) << "its mount is not known";
  EXPECT_FALSE(is_shared("/bound:kind=ext4", kNfs, 52)) << "mounted at a second place, too";
  EXPECT_FALSE(is_shared("/bound:kind=ext4,/home:kind=nfs", kNfs, 52));
  EXPECT_TRUE(is_shared("/home:kind=nfs,/bound:kind=ext4", kNfs, 52));
}

TEST(Dvs, ForwardsBlocksToSeveralServersOrAFileToOne) {
  const std::string servers = "rw,path=/gpfs,nodename=s1:s2:s3:s4,blksize=524288";
  const auto forwarding = [](const std::string& options, const char* block = "",
                             const char* nodes = "") {
    return dvs_forwarding(Mount{"/gpfs", "dvs", options}, block, nodes);
  };
  EXPECT_EQ(forwarding(servers).stripes, (Stripes{524288, 4}));
  EXPECT_EQ(forwarding(servers + ",maxnodes=3").stripes, (Stripes{524288, 3}));
  EXPECT_EQ(forwarding(servers + ",maxnodes=1").stripes, Stripes{}) << "a file has one server";
  EXPECT_EQ(forwarding(servers + ",maxnodes=1").block, 524288);
  EXPECT_EQ(forwarding(servers + ",loadbalance").stripes, Stripes{});
  EXPECT_EQ(forwarding("rw").stripes, Stripes{});
  EXPECT_EQ(forwarding("rw").block, 0);

  EXPECT_EQ(forwarding(servers, "4194304", "2").stripes, (Stripes{4 << 20, 2}));
  EXPECT_EQ(forwarding(servers, "4194304", "14").stripes, (Stripes{4 << 20, 4})) << "there are 4";
  EXPECT_EQ(forwarding(servers, "4m", "two").stripes, (Stripes{524288, 4}));
  EXPECT_EQ(forwarding(servers + ",nouserenv", "4194304", "2").stripes, (Stripes{524288, 4}));
  // As scripts for Cray's systems write it.
  EXPECT_EQ(forwarding(servers, "", "1__").stripes, Stripes{});
  EXPECT_EQ(forwarding(servers, "", "3_").stripes, (Stripes{524288, 3}));
  EXPECT_EQ(forwarding(servers, "", "24_").stripes, (Stripes{524288, 4}));
  EXPECT_EQ(forwarding(servers, "", "__").stripes, (Stripes{524288, 4}));
}

TEST(Dvs, KeepsNothingAsItsOptionsTell) {
  // As /proc/self/mountinfo tells a mount of HPE's Cray EX.
  const std::string usual =
      "rw,blksize=524288,statsfile=/sys/kernel/debug/dvs/mounts/1/stats,attrcache_timeout=0,"
      "nocache,nodatasync,noclosesync,retry,failover,userenv,clusterfs,killprocess,noatomic,"
      "nodeferopens,no_distribute_create_ops,no_ro_cache,noloadbalance,maxnodes=1,nnodes=2,"
      "nomagic,hash_on_ino,hash=modulo,nodename=x3000c0s6b0n0:x3000c0s5b0n0";
  const auto keeps_nothing = [](const std::string& options, const char* cache = "") {
    return dvs_keeps_nothing(Mount{"/gpfs", "dvs", options}, cache);
  };
  EXPECT_TRUE(keeps_nothing(usual));
  EXPECT_TRUE(keeps_nothing("rw,nocache"));
  EXPECT_TRUE(keeps_nothing(usual, "off"));
  EXPECT_FALSE(keeps_nothing(usual, "on"));
  EXPECT_TRUE(keeps_nothing(usual + ",nouserenv", "on"));
  EXPECT_FALSE(keeps_nothing("rw,blksize=524288")) << "not known";
  EXPECT_FALSE(keeps_nothing("rw,cache", "off")) << "other processes may cache";
  EXPECT_FALSE(keeps_nothing("rw,nocache,attrcache_timeout=14400"));
  for (const char* const word : {"loadbalance", "hash_on_nid", "noclusterfs"}) {
    EXPECT_FALSE(keeps_nothing("rw,nocache," + std::string(word))) << word;
  }
}

TEST(GivenFacts, GoBeforeThoseThatAreFound) {
  const ReadFacts read = read_given_facts(
      " /scratch*:coherent=true:stripe_size=4m:stripe_count=14 , nfs:request_size=64k:kind=panfs,"
      ",*:coherent=0");
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.facts.size(), 3U);
  const GivenFacts* const scratch = read.find("unknown", "/scratch/project");
  ASSERT_NE(scratch, nullptr);
  EXPECT_EQ(scratch->is_coherent, true);
  EXPECT_EQ(scratch->stripe_size, 4 << 20);
  EXPECT_EQ(scratch->stripe_count, 14);
  EXPECT_FALSE(scratch->request_size);
  EXPECT_FALSE(scratch->kind);
  const GivenFacts* const home = read.find("nfs", "/home");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(home->request_size, 64 << 10);
  EXPECT_EQ(name_of_kind(home->kind.value_or(0)), "panfs");
  EXPECT_EQ(read.find("ext4", "/")->is_coherent, false);
  EXPECT_EQ(read_given_facts("nfs:coherent=true").find("ext4", "/"), nullptr);
  EXPECT_TRUE(read_given_facts("").facts.empty());
}

TEST(GivenFacts, AreThoseOfAFilesLayout) {
  std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
  const int file = mkstemp(name.data());
  ASSERT_GE(file, 0);
  const Layout found = find_layout(file, {});
  const Layout said =
      find_layout(file, read_given_facts("*:kind=nfs:coherent=true:stripe_size=4m:stripe_count=14:"
                                         "request_size=2m:locks_whole_files=true"));
  EXPECT_FALSE(found.is_coherent || found.locks_whole_files);
  EXPECT_EQ(name_of_kind(said.kind), "nfs");
  EXPECT_TRUE(said.is_coherent);
  EXPECT_EQ(said.stripes, (Stripes{4 << 20, 14}));
  EXPECT_EQ(said.best_request, 2 << 20);
  EXPECT_TRUE(said.locks_whole_files);
  // By themselves, too.
  const auto with = [&](const char* fact) {
    return find_layout(file, read_given_facts("*:" + std::string(fact)));
  };
  EXPECT_TRUE(with("coherent=1").is_coherent);
  EXPECT_FALSE(with("kind=lustre:coherent=0").is_coherent);
  EXPECT_TRUE(with("kind=lustre").is_coherent);
  EXPECT_EQ(with("stripe_size=64k").best_request, 64 << 10);
  EXPECT_EQ(with("request_size=64k").stripes, found.stripes);
  EXPECT_EQ(with("request_size=64k").kind, found.kind);
  close(file);
  std::filesystem::remove(name);
}

TEST(GivenFacts, ThatMakeNoSenseAreNamed) {
  const ReadFacts read = read_given_facts(
      "/a:coherent=perhaps:kind=floppy:stripe_size=7:stripe_count=0:speed=9:request_size=1m,"
      ":coherent=true");
  EXPECT_EQ(read.problems.size(), 6U);
  ASSERT_EQ(read.facts.size(), 1U);
  EXPECT_EQ(read.facts[0].request_size, 1 << 20);
  EXPECT_FALSE(read.facts[0].is_coherent || read.facts[0].kind || read.facts[0].stripe_size ||
               read.facts[0].stripe_count);
}

TEST(Stripes, ThatMakeNoSenseAreNotKnown) {
  EXPECT_EQ(usable({1 << 20, 16}), (Stripes{1 << 20, 16}));
  EXPECT_EQ(usable({1 << 20, 0}), (Stripes{1 << 20, 0}));
  EXPECT_EQ(usable({1 << 20, 1 << 20}), (Stripes{1 << 20, 0}));
  EXPECT_EQ(usable({1000, 16}), Stripes{});
  EXPECT_EQ(usable({-4096, 16}), Stripes{});
  EXPECT_EQ(usable({ByteCount{1} << 31, 16}), Stripes{});
  EXPECT_EQ(usable({ByteCount{1} << 62, 16}), Stripes{});
}

class CreateStriped : public testing::Test {
 protected:
  CreateStriped() {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CreateStriped() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(CreateStriped, OpensWhereStripesCannotBeSet) {
  const std::string path = folder_ + "/file";
  const int flags = O_RDWR | O_CREAT | O_EXCL;
  const Created created = create_striped(path, flags, 0666, {.stripes = {1 << 20, 4}});
  ASSERT_GE(created.descriptor, 0);
  Layout layout = find_layout(created.descriptor);
  layout.outcome = created.outcome;
  EXPECT_EQ(layout.outcome, StripingOutcome::not_supported);
  EXPECT_EQ(explain_striping(layout),
            "not applied (programs cannot set stripes on " + name_of_kind(layout.kind) + ")");
  EXPECT_GT(layout.block_size, 0);
  EXPECT_FALSE(has_lock_ahead(layout.kind));
  close(created.descriptor);
  EXPECT_LT(create_striped(path, flags, 0666, {}).descriptor, 0);
  EXPECT_EQ(errno, EEXIST);
}

TEST_F(CreateStriped, TellsWhyItCannotOpen) {
  const Created created =
      create_striped(folder_ + "/none/file", O_RDWR | O_CREAT, 0666, {.start_device = 0});
  EXPECT_LT(created.descriptor, 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST(Layout, OfADescriptorThatIsNoneIsNotKnown) {
  const Layout layout = find_layout(-1);
  EXPECT_EQ(layout.kind, 0);
  EXPECT_EQ(layout.stripes, Stripes{});
}

TEST(Layout, IsToldAsOneNumber) {
  const Layout layout{.kind = find_kind(0x0bd00bd0, ""),
                      .is_coherent = true,
                      .stripes = {ByteCount{1} << 32, 65535},
                      .is_endless = true,
                      .locks_whole_files = true,
                      .block_size = ByteCount{1} << 31,
                      .outcome = StripingOutcome::refused,
                      .system_error = EOPNOTSUPP};
  const Layout told = unpack_layout(pack(layout));
  EXPECT_EQ(told.kind, layout.kind);
  EXPECT_TRUE(told.is_coherent);
  EXPECT_EQ(told.stripes, layout.stripes);
  EXPECT_TRUE(told.is_endless);
  EXPECT_TRUE(told.locks_whole_files);
  EXPECT_EQ(told.block_size, layout.block_size);
  EXPECT_GE(pack(layout), 0);
  EXPECT_EQ(told.outcome, layout.outcome);
  EXPECT_EQ(told.system_error, EOPNOTSUPP);

  EXPECT_EQ(pack(Layout{}), 0);
  EXPECT_EQ(unpack_layout(pack({.block_size = 4096})).block_size, 4096);
  const Layout odd = unpack_layout(pack({.kind = 999, .stripes = {1000, -3}, .block_size = 4097}));
  EXPECT_EQ(odd.kind, 0);
  EXPECT_EQ(odd.block_size, 0);
  EXPECT_EQ(odd.stripes, Stripes{});
}

TEST(Kinds, CanAllBeTold) {
  const int last = static_cast<int>(kinds().size()) - 1;
  EXPECT_EQ(unpack_layout(pack({.kind = last})).kind, last);
}

TEST(Striping, IsExplained) {
  Layout layout{.kind = find_kind(0x0bd00bd0, "")};
  EXPECT_EQ(explain_striping(layout), "nothing was asked for");
  layout.outcome = StripingOutcome::applied;
  EXPECT_EQ(explain_striping(layout), "applied when the file was created");
  layout.outcome = StripingOutcome::refused;
  layout.system_error = EINVAL;
  EXPECT_EQ(explain_striping(layout), "not applied (lustre refused it: Invalid argument)");
  layout = {.kind = find_kind(0, "dvs"), .outcome = StripingOutcome::not_supported};
  EXPECT_EQ(explain_striping(layout),
            "not applied (programs cannot set stripes on dvs), set DVS_MAXNODES and DVS_BLOCKSIZE "
            "for the job");
}

}  // namespace
}  // namespace headrace::storage
