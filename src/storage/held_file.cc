#include "storage/held_file.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>

#include "base/kept_errno.h"
#include "storage/file_layout.h"
#include "storage/kinds.h"

namespace headrace::storage {
namespace {

/// Whether the file is on a local file system, so that closing a descriptor asks no server.
bool is_local_file(int descriptor) {
  struct statfs status{};
  if (fstatfs(descriptor, &status) != 0) return false;
  const auto magic = static_cast<std::uint64_t>(status.f_type) & 0xffffffff;
  return !needs_mount(magic) && is_local(find_kind(magic, ""));
}

/// Whether no process has a lock on the file. A lock of an open file description conflicts with
/// those of every process, even this one's.
bool is_unlocked(int descriptor) {
  struct flock all{};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_GETLK, &all) == 0 && all.l_type == F_UNLCK;
}

}  // namespace

HeldDescriptor hold_file(int descriptor) {
  using Place = HeldDescriptor::Place;
  if (descriptor < 0) return {};
  bool moves = descriptor <= STDERR_FILENO;
  if (!moves) {
    const KeptErrno kept;
    moves = is_local_file(descriptor) && is_unlocked(descriptor);
  }
  return HeldDescriptor(descriptor, moves ? Place::apart : Place::as_it_is);
}

}  // namespace headrace::storage
