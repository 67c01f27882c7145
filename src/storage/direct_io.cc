#include "storage/direct_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/kept_errno.h"
#include "base/uninterrupted.h"
#include "storage/held_file.h"

namespace headrace::storage {
namespace {

/// Errors of a file system that takes no such requests, or not this one: larger blocks, a page that
/// others use. Then the request goes through the page cache, which tells any other error. So it
/// does at EFAULT: devices cannot reach some memory that the kernel can copy, and where the memory
/// ends, all before that is moved.
bool is_refusal(int error) {
  return error == EINVAL || error == EOPNOTSUPP || error == ENOTBLK || error == EBUSY;
}

}  // namespace

int DirectIo::open(int descriptor) {
  const KeptErrno kept;
  const int mode = fcntl(descriptor, F_GETFL) & O_ACCMODE;
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  const int again =
      uninterrupted([&] { return ::open(name.c_str(), mode | O_DIRECT | O_CLOEXEC); });
  if (again < 0) return errno;
  file_ = hold_file(again);
  return file_ ? 0 : errno;
}

Transferred DirectIo::move_pages(Direction direction, FileOffset offset, std::byte* memory,
                                 ByteCount bytes) {
  Transferred done;
  if (!file_.is_intact()) return done;
  while (done.bytes < bytes) {
    const auto left = static_cast<std::size_t>(bytes - done.bytes);
    const ssize_t moved = uninterrupted([&] {
      return direction == Direction::write
                 ? ::pwrite(file_.get(), memory + done.bytes, left, offset + done.bytes)
                 : ::pread(file_.get(), memory + done.bytes, left, offset + done.bytes);
    });
    if (moved < 0) {
      if (is_refusal(errno)) {
        is_refused_.store(true, std::memory_order_relaxed);
      } else if (errno != EFAULT && errno != EAGAIN) {  // the page cache's way tries these again
        done.system_error = errno;
      }
      return done;
    }
    has_moved_.store(true, std::memory_order_relaxed);
    done.bytes += moved;
    // The file ends, or an error comes with the next bytes: the page cache tells.
    if (moved == 0 || moved % kPage != 0) return done;
  }
  return done;
}

}  // namespace headrace::storage
