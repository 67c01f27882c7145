#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

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

}  // namespace headrace
