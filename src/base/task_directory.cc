#include "base/task_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

namespace headrace {
namespace {

/// 0: it is none.
pid_t number_of(std::string_view name) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

}  // namespace

std::vector<pid_t> TaskDirectory::list() {
  if (!directory_ || !directory_.is_intact()) {
    directory_ = HeldDescriptor(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  std::vector<pid_t> threads;
  if (!directory_ || ::lseek(directory_.get(), 0, SEEK_SET) != 0) return threads;
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory_.get(), entries.data(), entries.size());
    if (got <= 0) return threads;
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      if (const pid_t thread = number_of(entry->d_name); thread != 0) threads.push_back(thread);
      at += entry->d_reclen;
    }
  }
}

}  // namespace headrace
