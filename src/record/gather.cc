#include "record/gather.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>
#include <optional>

#include "record/image_reader.h"

namespace headrace::record {
namespace {

constexpr std::string_view kImageName = "rank-";

std::optional<int> rank_in_name(std::string_view name) {
  if (!name.starts_with(kImageName)) return std::nullopt;
  name.remove_prefix(kImageName.size());
  int rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc() || end != name.data() + name.size() || rank < 0) return std::nullopt;
  return rank;
}

/// Images of the job that the lowest rank is of, each rank once.
void leave_out_others(std::vector<std::pair<Image, std::string>>& images,
                      std::vector<std::string>& left_out) {
  std::ranges::stable_sort(images, {}, [](const auto& each) { return each.first.header().rank; });
  std::vector<std::pair<Image, std::string>> kept;
  for (auto& each : images) {
    const ImageHeader& header = each.first.header();
    if (kept.empty()) {
      kept.push_back(std::move(each));
    } else if (kept.front().first.header().rank_count != header.rank_count) {
      left_out.push_back(each.second + ": it is of another job");
    } else if (kept.back().first.header().rank == header.rank) {
      left_out.push_back(each.second + ": " + kept.back().second + " is of the same rank");
    } else {
      kept.push_back(std::move(each));
    }
  }
  images = std::move(kept);
}

Result<GatheredNode> gather(std::span<const std::string> image_paths, std::uint32_t node) {
  GatheredNode gathered;
  std::vector<std::pair<Image, std::string>> found;
  for (const std::string& path : image_paths) {
    Result<Image> image = Image::read(path);
    if (image) {
      found.emplace_back(std::move(image.value()), path);
    } else {
      gathered.left_out.push_back(path + ": " + image.error().message);
    }
  }
  if (found.empty()) {
    return Error(ErrorClass::no_such_file, 0,
                 {"there is nothing to make a record of (",
                  gathered.left_out.empty() ? "no image is given" : gathered.left_out.front(),
                  "), name the directory of a job whose ranks recorded"});
  }
  leave_out_others(found, gathered.left_out);
  std::vector<Image> images;
  for (auto& each : found) images.push_back(std::move(each.first));
  gathered.record = make_node_record(images, node, read_clock());
  return gathered;
}

}  // namespace

Result<GatheredNode> gather_images(std::span<const std::string> image_paths, std::uint32_t node) {
  try {
    return gather(image_paths, node);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::vector<std::string>> image_paths_in(const std::string& job_directory) {
  struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(::opendir(job_directory.c_str()));
  if (directory == nullptr) {
    return system_failure(errno, "cannot read the directory", job_directory);
  }
  struct stat status{};
  if (::fstat(::dirfd(directory.get()), &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & 022) != 0) {
    return Error(ErrorClass::access, EACCES,
                 {"'", job_directory,
                  "' is not read (it is not this user's alone), name the directory of one of your "
                  "own jobs"});
  }
  std::vector<std::pair<int, std::string>> found;
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::optional<int> rank = rank_in_name(entry->d_name);
    if (rank) found.emplace_back(*rank, job_directory + "/" + entry->d_name);
  }
  std::ranges::sort(found);
  std::vector<std::string> paths;
  for (auto& each : found) paths.push_back(std::move(each.second));
  return paths;
}

Result<std::string> write_record(std::span<const std::string> image_paths, const Facts& known,
                                 const std::string& directory) {
  Result<GatheredNode> node = gather_images(image_paths, 0);
  if (!node) return node.error();
  JobRecord job(known, {{directory}});
  if (Error failed = job.add(std::move(node.value()))) return failed;
  Result<WrittenRecord> written = job.finish();
  if (!written) return written.error();
  return std::move(written.value().path);
}

}  // namespace headrace::record
