#include "storage/kinds.h"

#include <algorithm>

namespace headrace::storage {
namespace {

constexpr std::uint64_t kFuse = 0x65735546;
constexpr std::uint64_t kNfs = 0x6969;

/// Seen by its node only. Two kinds are measured to gain by writing in turn (docs/paths.md).
constexpr Kind local(std::string_view name, std::uint64_t magic, bool has_one_writer = false) {
  Kind kind{name, magic, "", false};
  kind.has_one_writer = has_one_writer;
  kind.is_local = true;
  return kind;
}

/// Magic numbers: linux/magic.h, statfs(2), and the file systems' own headers.
constexpr Kind kKinds[] = {
    {"unknown", 0, "", false},
    {"lustre", 0x0bd00bd0, "", true, StripeSource::lustre, StripeControl::lustre, {}, true},
    {"ceph", 0x00c36400, "", true, StripeSource::ceph, StripeControl::ceph},
    {"ceph", kFuse, "fuse.ceph-fuse", true, StripeSource::ceph, StripeControl::ceph},
    {"ceph", kFuse, "fuse.ceph", true, StripeSource::ceph, StripeControl::ceph},
    {"gpfs", 0x47504653, "", true, StripeSource::block_size},
    {"beegfs", 0x19830326, "", false, StripeSource::beegfs},
    {"nfs", kNfs, "", false, StripeSource::none, StripeControl::none, "wsize"},
    {"glusterfs", kFuse, "fuse.glusterfs", false, StripeSource::gluster},
    {"daos", kFuse, "fuse.daos", false},
    {"moosefs", kFuse, "fuse.mfs", false},
    {"sshfs", kFuse, "fuse.sshfs", false},
    {"fuse", kFuse, "", false},
    {"panfs", 0xaad7aaea, "", true},
    {"orangefs", 0x20030528, "", true},
    {"weka", 0x18031977, "", false},
    {"gfs2", 0x01161970, "", true},
    {"ocfs2", 0x7461636f, "", true},
    {"smb", 0xfe534d42, "", false, StripeSource::none, StripeControl::none, "wsize"},
    {"smb", 0xff534d42, "", false, StripeSource::none, StripeControl::none, "wsize"},
    {"afs", 0x5346414f, "", false},
    {"9p", 0x01021997, "", false},
    local("ext4", 0xef53, true),
    local("xfs", 0x58465342),
    local("btrfs", 0x9123683e),
    local("zfs", 0x2fc12fc1),
    local("tmpfs", 0x01021994, true),
    {"overlay", 0x794c7630, "", false},
    local("f2fs", 0xf2f52010),
};

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

bool needs_mount(std::uint64_t magic) {
  return std::ranges::any_of(kKinds, [&](const Kind& kind) {
    return kind.magic == magic && (!kind.mount_type.empty() || !kind.request_option.empty());
  });
}

int find_kind(std::uint64_t magic, std::string_view mount_type) {
  const auto* const found = std::ranges::find_if(kKinds, [&](const Kind& kind) {
    return magic != 0 && kind.magic == magic &&
           (kind.mount_type.empty() || kind.mount_type == mount_type);
  });
  return found == std::end(kKinds) ? 0 : static_cast<int>(found - kKinds);
}

}  // namespace headrace::storage
