#include "record/job_end.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "base/message.h"
#include "base/settings.h"
#include "record/exit_lines.h"
#include "record/gather.h"
#include "record/image_owner.h"
#include "record/recorder.h"
#include "record/summary.h"

namespace headrace::record {
namespace {

constexpr int kPatienceMilliseconds = 2000;

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// Whether the rank may still write to its image: it runs, and has not come to its end.
bool is_under_way(const std::string& path) {
  ImageHeader header{};
  return read_header(path, header) &&
         header.state.load() == static_cast<std::uint32_t>(RankState::running) &&
         owner_runs(header);
}

void wait_for(const std::vector<std::string>& images) {
  int left = kPatienceMilliseconds;
  for (const std::string& path : images) {
    for (; left > 0 && is_under_way(path); --left) usleep(1000);
  }
}

/// "" where the rank has none.
std::string image_of(std::span<const RankEnd> ends, int rank) {
  const auto place = static_cast<std::size_t>(ends[static_cast<std::size_t>(rank)].directory);
  const std::vector<std::string> directories = image_directories(settings().record_directory);
  if (place >= directories.size()) return "";
  return directories[place] + "/" + job_mark().name + "/rank-" + std::to_string(rank);
}

/// `images`: where they still are, if no record was written; else empty.
void tell(const JobRecord& job, const Result<WrittenRecord>& written, const std::string& images) {
  JobStory story = job.story();
  story.files = summary();
  if (!written) {
    std::string text = "no record was written (" + written.error().message + ")";
    if (!images.empty()) {
      text += "; what was recorded is in " + images + ", 'headrace record gather' makes the record";
    }
    print_message(text);
  } else if (written.value().path.empty()) {
    story.problem = written.value().problem;
  } else if (!written.value().problem.empty()) {
    print_message("the record is " + written.value().path + " (" + written.value().problem +
                  "), set HEADRACE_LOGPATH to a directory that can be written to");
  } else {
    story.record = written.value().path;
  }
  if (!settings().summary || settings().quiet) return;
  const bool is_known = story.ranks > 0;
  for (const std::string& line : is_known ? exit_lines(story) : story.files) print_message(line);
}

Error add_images(JobRecord& job, const std::vector<std::string>& images,
                 const std::string& missing) {
  Result<GatheredNode> node = gather_images(images, 0);
  if (!node) return node.error();
  if (!missing.empty()) job.leave_out(missing);
  return job.add(std::move(node.value()));
}

void remove_all(const std::vector<std::string>& images) {
  for (const std::string& path : images) unlink(path.c_str());
  for (const std::string& path : images) remove_job_directory(directory_of(path));
}

KeptJobs kept_jobs() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const bool is_asked_for = std::ranges::count(settings().given, "HEADRACE_RECORD") > 0;
  return {settings().record_shortest * kSecond, is_asked_for};
}

/// `failed`: why the images could not be read. They are removed, unless they are all there is.
void finish(JobRecord& job, const Error& failed, const std::vector<std::string>& images) {
  if (!failed && !is_kept(job.summary(), kept_jobs())) return remove_all(images);
  const Result<WrittenRecord> written = failed ? Result<WrittenRecord>(failed) : job.finish();
  if (written) remove_all(images);
  tell(job, written, images.empty() ? "" : directory_of(images.front()));
}

/// Of all ranks of the job that have one on this node.
std::vector<std::string> images_of_node() {
  std::vector<std::string> images;
  for (const std::string& directory : image_directories(settings().record_directory)) {
    auto found = image_paths_in(directory + "/" + job_mark().name);
    if (found) images.insert(images.end(), found.value().begin(), found.value().end());
  }
  return images;
}

}  // namespace

RankEnd own_end(std::int64_t node) {
  RankEnd end{node, -1, 0};
  const ImageFile* const own = image();
  if (own == nullptr) return end;
  const std::vector<std::string> directories = image_directories(settings().record_directory);
  const auto found = std::ranges::find(directories, directory_of(directory_of(own->path())));
  if (found != directories.end()) {
    end.directory = static_cast<std::int32_t>(found - directories.begin());
  }
  return end;
}

std::vector<std::vector<int>> nodes_of(std::span<const RankEnd> ends) {
  std::vector<std::vector<int>> nodes;
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    const auto [found, is_new] = places.try_emplace(ends[rank].node, nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[found->second].push_back(static_cast<int>(rank));
  }
  return nodes;
}

GatheredNode gather_node(std::span<const RankEnd> ends, std::span<const int> ranks,
                         std::uint32_t node) {
  std::vector<std::string> images;
  std::vector<std::string> lacking;
  for (const int rank : ranks) {
    std::string path = image_of(ends, rank);
    if (path.empty()) {
      lacking.push_back("rank " + std::to_string(rank) + ": its recorder could not start");
    } else {
      images.push_back(std::move(path));
    }
  }
  Result<GatheredNode> made = gather_images(images, node);
  GatheredNode found = made ? std::move(made.value()) : GatheredNode();
  if (!made && !images.empty()) found.left_out.push_back(made.error().message);
  found.left_out.insert(found.left_out.end(), lacking.begin(), lacking.end());
  found.record.summary.nodes = 1;
  found.record.summary.rank_count = static_cast<std::int64_t>(ends.size());
  return found;
}

void remove_images(std::span<const RankEnd> ends, std::span<const int> ranks) {
  std::string last;
  for (const int rank : ranks) {
    const std::string path = image_of(ends, rank);
    if (path.empty()) continue;
    unlink(path.c_str());
    if (last != directory_of(path)) {
      if (!last.empty()) remove_job_directory(last);
      last = directory_of(path);
    }
  }
  if (!last.empty()) remove_job_directory(last);
}

void finish_job(const Facts& facts, const std::string& missing) {
  const std::vector<std::string> images = images_of_node();
  if (images.empty()) return;  // why was told when MPI began
  wait_for(images);
  JobRecord job(facts, record_places());
  finish(job, add_images(job, images, missing), images);
}

void finish_job(JobRecord& job) {
  finish(job, {}, {});
}

}  // namespace headrace::record
