#include "common/posix_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "common/failure.h"

namespace headrace::bench {

std::string PosixFile::open(const std::string& path, int flags) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  return descriptor_ < 0 ? describe_errno("cannot open '" + path + "'", errno) : std::string();
}

std::string PosixFile::write_at(std::int64_t offset, const void* data, std::size_t length) {
  const char* from = static_cast<const char*>(data);
  while (length > 0) {
    const ssize_t moved = ::pwrite(descriptor_, from, length, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return describe_errno("cannot write to '" + path_ + "'", errno);
    if (moved == 0) {
      return "cannot write to '" + path_ + "' at byte " + std::to_string(offset) +
             " (the file system takes no more), free some space or " + make_smaller();
    }
    from += moved;
    offset += moved;
    length -= static_cast<std::size_t>(moved);
  }
  return {};
}

std::string PosixFile::read_at(std::int64_t offset, void* data, std::size_t length) {
  char* to = static_cast<char*>(data);
  while (length > 0) {
    const ssize_t moved = ::pread(descriptor_, to, length, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return describe_errno("cannot read '" + path_ + "'", errno);
    if (moved == 0) {
      return "cannot read '" + path_ + "' at byte " + std::to_string(offset) +
             " (the file ends there), write it first with the same options";
    }
    to += moved;
    offset += moved;
    length -= static_cast<std::size_t>(moved);
  }
  return {};
}

std::string PosixFile::sync() {
  return ::fsync(descriptor_) < 0 ? describe_errno("cannot sync '" + path_ + "'", errno)
                                  : std::string();
}

std::string PosixFile::close() {
  if (descriptor_ < 0) return {};
  const int result = ::close(descriptor_);
  descriptor_ = -1;
  return result < 0 ? describe_errno("cannot close '" + path_ + "'", errno) : std::string();
}

std::int64_t file_size(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_size : -1;
}

std::int64_t free_space(const std::string& path) {
  struct statvfs status{};
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::statvfs(path.c_str(), &status) != 0 && ::statvfs(directory.c_str(), &status) != 0) {
    return -1;
  }
  return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

}  // namespace headrace::bench
