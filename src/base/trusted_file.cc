#include "base/trusted_file.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/small_file.h"
#include "base/spelling.h"

namespace headrace {
namespace {

/// Whoever owns this library decides already what runs in this process.
bool owns_this_library(uid_t user) {
  static const char here = 0;
  Dl_info object{};
  struct stat status{};
  return ::dladdr(&here, &object) != 0 && object.dli_fname != nullptr &&
         ::stat(object.dli_fname, &status) == 0 && status.st_uid == user;
}

/// Why others may have had a hand in it, or "". `is_directory`: with the sticky bit others cannot
/// replace what lies in it.
std::string why_not_trusted(const struct stat& status, bool is_directory) {
  constexpr mode_t kOthers = S_IWGRP | S_IWOTH;
  const bool is_safe = is_directory && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & kOthers) != 0 && !is_safe) {
    return is_directory ? "others may write to its directory" : "others may write to it";
  }
  const uid_t owner = status.st_uid;
  if (owner == 0 || owner == ::geteuid() || owns_this_library(owner)) return {};
  return std::string(is_directory ? "its directory" : "it") + " belongs to another user";
}

/// "" and the text, or why the open file is not used.
std::string take_trusted(int descriptor, const std::string& path, std::string& text,
                         std::size_t most) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (S_ISCHR(status.st_mode)) {  // /dev/null has nothing to say
    text.clear();
    return {};
  }
  if (!S_ISREG(status.st_mode)) return "it is no file";
  if (status.st_size > static_cast<off_t>(most)) {
    return "it has more than " + std::to_string(most >> 10) + " KiB";
  }
  std::string why = why_not_trusted(status, false);
  if (!why.empty()) return why;
  if (::stat(directory_of(path).c_str(), &status) != 0) return std::strerror(errno);
  why = why_not_trusted(status, true);
  if (!why.empty()) return why;
  return read_descriptor(descriptor, most, text) ? "" : std::strerror(errno);
}

}  // namespace

std::string with_home(const std::string& path) {
  if (!path.starts_with("~/")) return path;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home != '/' ? "" : home + path.substr(1);
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Refusal read_trusted_file(const std::string& path, std::string& text, std::size_t most) {
  const ScopedDescriptor file(open_to_read(path));
  if (file.get() < 0) return {errno == ENOENT || errno == ENOTDIR, std::strerror(errno)};
  return {false, take_trusted(file.get(), path, text, most)};
}

std::string remedy_of(const Refusal& refusal, const std::string& path) {
  return refusal.why.find("directory") == std::string::npos || refusal.is_missing
             ? "give a file that you can read and others cannot write"
             : "let its owner type chmod go-w " + printable(directory_of(path));
}

}  // namespace headrace
