#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headrace::storage {

/// How a file's stripes can be read.
enum class StripeSource {
  none,
  block_size,  ///< blocks of the file system go to devices in turn
  lustre,      ///< the attribute lustre.lov, or its ioctl
  ceph,        ///< the attributes ceph.file.layout.*
  beegfs,      ///< an ioctl
  gluster,     ///< the client's volume file
  dvs,         ///< the mount's options, and variables of the job
};

/// How a new file's stripes can be set.
enum class StripeControl { none, lustre, ceph };

/// What is known of a kind of file system.
struct Kind {
  std::string_view name;  ///< for reports
  std::uint64_t magic;    ///< statfs(2)'s f_type; 0: the mount's type tells all
  std::string_view
      mount_type;  ///< the type in /proc/self/mountinfo, if the magic number is not enough
  /// Reads on any node see what other nodes have written once their writes have returned. False
  /// also if that depends on how it is mounted.
  bool is_coherent;
  StripeSource source = StripeSource::none;
  StripeControl control = StripeControl::none;
  std::string_view request_option = {};  ///< the mount option with the largest write request
  bool has_lock_ahead = false;
  /// The kernel lets one process write a file at a time, at the speed of memory.
  bool has_one_writer = false;
  /// Local to the node: reads ask no server.
  bool is_local = false;
  /// Clients may make up inode numbers, each its own.
  bool may_renumber = false;
  /// A node may write more of a page than it was given, and so over what other nodes have written
  /// there, unless the file has a lock.
  bool extends_writes = false;
};

/// All kinds; the first is the unknown one.
std::span<const Kind> kinds();

/// Whether the mount's type or its options may tell more than this magic number: a layer that
/// forwards to servers may have the number of their file system. Not for local file systems, which
/// are opened most.
bool needs_mount(std::uint64_t magic);

/// The index in kinds(). A type that tells all counts over the magic number. `mount_type` is empty
/// if the mount was not found.
int find_kind(std::uint64_t magic, std::string_view mount_type);

}  // namespace headrace::storage
