#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace::bench {

/// An open file descriptor, closed at the end of its life. Errors are returned as a text, empty
/// when all went well.
class PosixFile {
 public:
  PosixFile() = default;
  ~PosixFile() { close(); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  /// Opens with open(2)'s flags; new files get mode 0666 less the umask.
  [[nodiscard]] std::string open(const std::string& path, int flags);

  /// Moves all `length` bytes at `offset`, through short transfers and interrupts. A read that
  /// meets the end of the file is an error.
  [[nodiscard]] std::string write_at(std::int64_t offset, const void* data, std::size_t length);
  [[nodiscard]] std::string read_at(std::int64_t offset, void* data, std::size_t length);

  [[nodiscard]] std::string sync();
  std::string close();

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// The size of a file in bytes, -1 where there is none.
std::int64_t file_size(const std::string& path);

/// Bytes free for us on the file system that holds `path` or, where that does not exist, its
/// directory; -1 when it cannot be told.
std::int64_t free_space(const std::string& path);

}  // namespace headrace::bench
