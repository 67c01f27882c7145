#include "record/image_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/small_file.h"
#include "record/private_directory.h"

namespace headrace::record {

// python/headrace/launch/gather.py reads these there.
static_assert(offsetof(ImageHeader, process) == 24 && offsetof(ImageHeader, process_start) == 32 &&
              offsetof(ImageHeader, process_space) == 152);

namespace {

/// A field of /proc/PROCESS/stat from the third on, as proc(5) numbers them, and what follows it;
/// empty if it is not there.
std::string_view stat_field(std::string_view text, int number) {
  // The second, a name in parentheses, may have blanks and parentheses.
  std::size_t at = text.rfind(')');
  for (int field = 2; at != std::string_view::npos && field < number; ++field) {
    at = text.find(' ', at + 1);
  }
  return at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
}

std::string stat_of(int process) {
  return read_small_file(("/proc/" + std::to_string(process) + "/stat").c_str(), 1023);
}

long long number_in(std::string_view field) {
  return field.empty() ? 0 : std::strtoll(field.data(), nullptr, 10);
}

/// It has ended, but nobody has waited for it, as in containers whose first process never does. A
/// process whose first thread alone has ended looks so, too, but has others.
bool is_zombie(std::string_view stat) {
  const std::string_view state = stat_field(stat, 3);
  return (state.starts_with('Z') || state.starts_with('X')) && number_in(stat_field(stat, 20)) <= 1;
}

}  // namespace

long long process_start(int process) {
  const std::string stat = stat_of(process);
  return number_in(stat_field(stat, 22));
}

int parent_process(int process) {
  const std::string stat = stat_of(process);
  return static_cast<int>(number_in(stat_field(stat, 4)));
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
  const std::string stat = stat_of(header.process);
  return number_in(stat_field(stat, 22)) == header.process_start && !is_zombie(stat);
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
