#include "record/image_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "base/small_file.h"
#include "record/private_directory.h"

namespace headrace::record {

// python/headrace/launch/gather.py reads these there.
static_assert(offsetof(ImageHeader, process) == 24 && offsetof(ImageHeader, process_start) == 32 &&
              offsetof(ImageHeader, process_space) == 152);

long long process_start(int process) {
  const std::string text =
      read_small_file(("/proc/" + std::to_string(process) + "/stat").c_str(), 1023);
  // The name, in parentheses, may have blanks and parentheses. 22 is the field; 3 follows the name.
  std::size_t at = text.rfind(')');
  for (int field = 2; at != std::string::npos && field < 22; ++field) at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 1, nullptr, 10);
}

bool read_header(const std::string& image, ImageHeader& header) {
  const int descriptor = open(image.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const ssize_t length = read(descriptor, &header, sizeof header);
  close(descriptor);
  return length == static_cast<ssize_t>(sizeof header) && header.magic == kImageMagic;
}

std::uint64_t process_space() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool owner_runs(const ImageHeader& header) {
  if (header.process_space != process_space()) return true;
  return process_start(header.process) == header.process_start;
}

bool put_aside(const std::string& image) {
  ImageHeader header{};
  if (!read_header(image, header)) return unlink(image.c_str()) == 0;
  if (owner_runs(header)) return false;
  const std::size_t slash = image.rfind('/');
  const std::string folder = image.substr(0, slash) + ".before-" + std::to_string(header.start);
  if (make_private_directory(folder)) return false;
  return rename(image.c_str(), (folder + image.substr(slash)).c_str()) == 0;
}

}  // namespace headrace::record
