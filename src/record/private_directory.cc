#include "record/private_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "record/image.h"

namespace headrace::record {

Error make_private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return system_failure(errno, "cannot make the directory", path);
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) {
    return system_failure(errno, "cannot look at the directory", path);
  }
  if (S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 077) == 0) return {};
  return {ErrorClass::access, EACCES, {path, " is not this user's alone, remove it"}};
}

bool put_aside(const std::string& image) {
  const int descriptor = open(image.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  std::array<std::byte, sizeof(ImageHeader)> bytes{};
  const ssize_t length = read(descriptor, bytes.data(), bytes.size());
  close(descriptor);
  const auto* const header = reinterpret_cast<const ImageHeader*>(bytes.data());
  const bool is_whole =
      length == static_cast<ssize_t>(bytes.size()) && header->magic == kImageMagic;
  if (!is_whole) return unlink(image.c_str()) == 0;
  if (process_start(header->process) == header->process_start) return false;
  const std::size_t slash = image.rfind('/');
  const std::string folder = image.substr(0, slash) + ".before-" + std::to_string(header->start);
  if (make_private_directory(folder)) return false;
  return rename(image.c_str(), (folder + image.substr(slash)).c_str()) == 0;
}

long long process_start(int process) {
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::array<char, 1024> text{};
  const ssize_t length = read(descriptor, text.data(), text.size() - 1);
  close(descriptor);
  if (length <= 0) return 0;
  // The name, in parentheses, may have blanks and parentheses. 22 is the field; 3 follows the name.
  const char* at = std::strrchr(text.data(), ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoll(at + 1, nullptr, 10);
}

}  // namespace headrace::record
