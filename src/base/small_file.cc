#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/kept_errno.h"
#include "base/uninterrupted.h"

namespace headrace {

std::string read_small_file(const char* path, std::size_t most) {
  std::string text(most, '\0');  // before the file is open, since it may throw
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, length)));
  return text;
}

bool read_descriptor(int descriptor, std::string& text) {
  const std::size_t most = text.size();
  std::size_t size = 0;
  ssize_t more = 0;
  do {
    more = uninterrupted([&] { return ::read(descriptor, text.data() + size, most - size); });
    if (more > 0) size += static_cast<std::size_t>(more);
  } while (more > 0 && size < most);
  text.resize(size);
  return more >= 0;
}

int open_to_read(const std::string& path) {
  return uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
}

bool read_text_file(const std::string& path, std::size_t most, std::string& text) {
  text.assign(most, '\0');  // before the file is open: it may throw
  const int descriptor = open_to_read(path);
  if (descriptor < 0) return false;
  const bool is_read = read_descriptor(descriptor, text);
  const KeptErrno kept;
  ::close(descriptor);
  return is_read;
}

}  // namespace headrace
