#include "record/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace headrace::record
