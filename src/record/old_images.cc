#include "record/old_images.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "record/image_file.h"
#include "record/image_owner.h"

namespace headrace::record {
namespace {

/// A job that just begins has a directory without images.
constexpr std::int64_t kYoungSeconds = 600;

struct OldJob {
  std::string path;
  std::vector<std::string> images;
  std::int64_t changed = 0;  ///< seconds since 1970
  std::int64_t bytes = 0;
  bool is_single = false;  ///< of one rank
};

std::vector<std::string> names_in(const std::string& directory) {
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> opened(::opendir(directory.c_str()));
  if (opened == nullptr) return names;
  while (const dirent* const entry = ::readdir(opened.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

bool is_own_directory(const std::string& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
}

/// Whether it is one of a job that has ended; then `job` tells of it.
bool has_ended(const std::string& directory, OldJob& job) {
  struct stat status{};
  if (!is_own_directory(directory, status)) return false;
  job.path = directory;
  job.changed = status.st_mtime;
  for (const std::string& name : names_in(directory)) {
    const std::string path = directory + "/" + name;
    ImageHeader header{};
    // What is no image is somebody else's matter.
    if (!name.starts_with("rank-") || ::lstat(path.c_str(), &status) != 0) return false;
    if (read_header(path, header) && owner_runs(header)) return false;
    job.is_single = header.rank_count == 1;
    job.images.push_back(path);
    job.bytes += std::int64_t{status.st_blocks} * 512;
  }
  return true;
}

void remove(const OldJob& job) {
  for (const std::string& image : job.images) ::unlink(image.c_str());
  ::rmdir(job.path.c_str());
}

}  // namespace

void remove_old_images(std::span<const std::string> directories, const KeptImages& kept) {
  const std::int64_t now = std::time(nullptr);
  std::vector<OldJob> jobs;
  for (const std::string& directory : directories) {
    struct stat status{};
    if (!is_own_directory(directory, status)) continue;
    for (const std::string& name : names_in(directory)) {
      OldJob job;
      if (has_ended(directory + "/" + name, job) && now - job.changed > kYoungSeconds) {
        jobs.push_back(std::move(job));
      }
    }
  }
  std::ranges::sort(jobs, std::ranges::greater(), &OldJob::changed);
  std::int64_t bytes = 0;
  int singles = 0;
  for (const OldJob& job : jobs) {
    bytes += job.bytes;
    singles += job.is_single ? 1 : 0;
    const bool is_too_much = bytes > kept.bytes || (job.is_single && singles > kept.singles);
    if (now - job.changed > kept.seconds || is_too_much) remove(job);
  }
}

}  // namespace headrace::record
