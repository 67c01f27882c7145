#include "storage/kinds.h"

#include <algorithm>

namespace headrace::storage {
namespace {

constexpr std::uint64_t kFuse = 0x65735546;
constexpr std::uint64_t kNfs = 0x6969;

/// A local file system. Two kinds gain, as measured, by writing in turn (docs/paths.md).
constexpr Kind local(std::string_view name, std::uint64_t magic, bool has_one_writer = false) {
  Kind kind{name, magic, "", false};
  kind.has_one_writer = has_one_writer;
  kind.is_local = true;
  return kind;
}

/// A file system with unknown stripes whose clients may make up inode numbers.
constexpr Kind renumbering(std::string_view name, std::uint64_t magic,
                           std::string_view mount_type = "", std::string_view request_option = "") {
  Kind kind{name, magic, mount_type, false};
  kind.request_option = request_option;
  kind.may_renumber = true;
  return kind;
}

/// Linux' client makes a write as long as its page if it has the page's content and the file has no
/// lock (nfs_can_extend_write() in fs/nfs/write.c).
constexpr Kind nfs() {
  Kind kind{"nfs", kNfs, "", false};
  kind.request_option = "wsize";
  kind.extends_writes = true;
  return kind;
}

/// Magic numbers: linux/magic.h, statfs(2), and the file systems' own headers.
constexpr Kind kKinds[] = {
    renumbering("unknown", 0),
    {"lustre", 0x0bd00bd0, "", true, StripeSource::lustre, StripeControl::lustre, {}, true},
    {"ceph", 0x00c36400, "", true, StripeSource::ceph, StripeControl::ceph},
    {"ceph", kFuse, "fuse.ceph-fuse", true, StripeSource::ceph, StripeControl::ceph},
    {"ceph", kFuse, "fuse.ceph", true, StripeSource::ceph, StripeControl::ceph},
    {"gpfs", 0x47504653, "", true, StripeSource::block_size},
    {"beegfs", 0x19830326, "", false, StripeSource::beegfs},
    nfs(),
    {"glusterfs", kFuse, "fuse.glusterfs", false, StripeSource::gluster},
    renumbering("daos", kFuse, "fuse.daos"),
    {"moosefs", kFuse, "fuse.mfs", false},
    renumbering("sshfs", kFuse, "fuse.sshfs"),
    renumbering("fuse", kFuse),
    {"panfs", 0xaad7aaea, "", true},
    {"orangefs", 0x20030528, "", true},
    {"weka", 0x18031977, "", false},
    {"gfs2", 0x01161970, "", true},
    {"ocfs2", 0x7461636f, "", true},
    renumbering("smb", 0xfe534d42, "", "wsize"),
    renumbering("smb", 0xff534d42, "", "wsize"),
    renumbering("afs", 0x5346414f),
    renumbering("9p", 0x01021997),
    local("ext4", 0xef53, true),
    local("xfs", 0x58465342),
    local("btrfs", 0x9123683e),
    local("zfs", 0x2fc12fc1),
    local("tmpfs", 0x01021994, true),
    renumbering("overlay", 0x794c7630),
    local("f2fs", 0xf2f52010),
    local("bcachefs", 0xca451a4e),
    {"dvs", 0, "dvs", false, StripeSource::dvs},
};

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

bool needs_mount(std::uint64_t magic) {
  return std::ranges::none_of(
      kKinds, [&](const Kind& kind) { return magic != 0 && kind.magic == magic && kind.is_local; });
}

int find_kind(std::uint64_t magic, std::string_view mount_type) {
  const auto has_type = [&](const Kind& kind) {
    return !kind.mount_type.empty() && kind.mount_type == mount_type;
  };
  const auto* found = std::ranges::find_if(
      kKinds, [&](const Kind& kind) { return kind.magic == 0 && has_type(kind); });
  if (found == std::end(kKinds)) {
    found = std::ranges::find_if(kKinds, [&](const Kind& kind) {
      return magic != 0 && kind.magic == magic && (kind.mount_type.empty() || has_type(kind));
    });
  }
  return found == std::end(kKinds) ? 0 : static_cast<int>(found - kKinds);
}

}  // namespace headrace::storage
