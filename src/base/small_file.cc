#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/uninterrupted.h"

namespace headrace {

std::string read_small_file(const char* path, std::size_t most) {
  const ScopedDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  return file.get() >= 0 && read_descriptor(file.get(), most, text) ? text : "";
}

bool read_descriptor(int descriptor, std::size_t most, std::string& text) {
  constexpr std::size_t kFirst = 4096;
  text.clear();
  while (text.size() < most) {
    const std::size_t begin = text.size();
    text.resize(std::min(most, begin + std::max(begin, kFirst)));
    const ssize_t more =
        uninterrupted([&] { return ::read(descriptor, text.data() + begin, text.size() - begin); });
    text.resize(begin + static_cast<std::size_t>(std::max<ssize_t>(0, more)));
    if (more <= 0) return more == 0;
  }
  return true;
}

int open_to_read(const std::string& path) {
  return uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
}

bool read_text_file(const std::string& path, std::size_t most, std::string& text) {
  const ScopedDescriptor file(open_to_read(path));
  return file.get() >= 0 && read_descriptor(file.get(), most, text);
}

}  // namespace headrace
