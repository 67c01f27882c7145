#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>

#include "base/kept_errno.h"

namespace headrace {

/// Closes a descriptor at the end of the scope, and keeps errno. A negative one is none.
class ScopedDescriptor {
 public:
  explicit ScopedDescriptor(int descriptor) : descriptor_(descriptor) {}
  ScopedDescriptor(const ScopedDescriptor&) = delete;
  ScopedDescriptor& operator=(const ScopedDescriptor&) = delete;
  ~ScopedDescriptor() {
    const KeptErrno kept;
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The first bytes, at most `most`, of a small file such as those of /proc and /sys; "" if it
/// cannot be read. Does not use a stream: a process's first stream sets up locales, which takes
/// longer than opening a file.
std::string read_small_file(const char* path, std::size_t most);

/// The text of a file, as much as `most` bytes, without waiting for anybody. Where it cannot be
/// read: false, and errno.
bool read_text_file(const std::string& path, std::size_t most, std::string& text);

/// Opens a file without waiting for whoever might write into a pipe of this name. Negative, with
/// errno, if it cannot be opened.
int open_to_read(const std::string& path);

/// Reads at most `most` bytes, up to the end: files of /proc give a page at a time. Takes memory as
/// it is needed: a large block that is freed would change where the program's allocator takes
/// memory from (M_MMAP_THRESHOLD). Where it cannot be read: false, errno, and what came before.
/// Throws std::bad_alloc.
bool read_descriptor(int descriptor, std::size_t most, std::string& text);

}  // namespace headrace
