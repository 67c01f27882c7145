#include "record/job_end.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "record/exit_lines.h"
#include "record/gather.h"
#include "record/image_owner.h"
#include "record/recorder.h"
#include "record/summary.h"

namespace headrace::record {
namespace {

constexpr std::chrono::seconds kPatienceForImages{2};
constexpr std::chrono::seconds kPatienceForRecord{5};

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
  const auto end = std::chrono::steady_clock::now() + kPatienceForImages;
  for (const std::string& path : images) {
    while (std::chrono::steady_clock::now() < end && is_under_way(path)) usleep(1000);
  }
}

/// "" where the rank has none.
std::string image_of(std::span<const RankEnd> ends, int rank) {
  const RankEnd& end = ends[static_cast<std::size_t>(rank)];
  const auto place = static_cast<std::size_t>(end.directory);
  const std::vector<std::string>& directories = own_directories();
  if (place >= directories.size()) return "";
  const std::string job = job_mark().name({end.process, end.process_start});
  return directories[place] + "/" + job + "/rank-" + std::to_string(rank);
}

/// What is told holds names from outside.
void say(const std::string& text) {
  constexpr std::size_t kLongestLine = 900;
  print_message(printable(text, kLongestLine));
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
  const Settings& all = settings();
  const bool has_more = all.record_files || all.timeline || all.sampling ||
                        all.counters != CountersSetting::off || wants_traces(all);
  return {all.record_shortest * kSecond, has_more || is_asked_for(all)};
}

/// Whether it is one of this job's: others may have left theirs under the same name.
bool is_of_job(const std::string& path) {
  ImageHeader header{};
  return read_header(path, header) && header.rank_count == job_mark().ranks;
}

/// Of all ranks of the job that have one on this node.
std::vector<std::string> images_of_node() {
  std::vector<std::string> images;
  for (const std::string& directory : own_directories()) {
    auto found = image_paths_in(directory + "/" + job_mark().name());
    if (found) std::ranges::copy_if(found.value(), std::back_inserter(images), &is_of_job);
  }
  return images;
}

/// This rank has an image, which it cannot read any more.
void tell_lost(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 && errno == ENOENT) {
    return say(
        "no record was written ('" + path +
        "' was removed while the program ran), let nothing remove what Headrace keeps there");
  }
  std::string why = "the job's directory cannot be read";
  if (file < 0) why = system_failure(errno, "cannot open", path).message;
  if (file >= 0) close(file);
  say("no record was written (" + why +
      "); what was recorded stays there, 'headrace record gather' makes the record");
}

}  // namespace

bool is_asked_for(const Settings& settings) {
  return std::ranges::any_of(settings.given, [](const GivenSetting& one) {
    return one.name == "HEADRACE_RECORD" && one.origin != Origin::fallback && one.text != "auto";
  });
}

RankEnd own_end(std::int64_t node) {
  const ProcessName& process = job_mark().process;
  RankEnd end{node, process.start, process.number, -1};
  const ImageFile* const own = image();
  if (own == nullptr) return end;
  const std::vector<std::string>& directories = own_directories();
  const auto found = std::ranges::find(directories, directory_of(directory_of(own->path())));
  if (found != directories.end()) {
    end.directory = static_cast<std::int32_t>(found - directories.begin());
  }
  return end;
}

bool has_gone_on(std::span<const std::int64_t> until, std::int64_t now) {
  constexpr std::int64_t kMargin = 5'000'000'000;
  return std::ranges::any_of(until, [&](std::int64_t end) { return end + kMargin < now; });
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

std::vector<std::string> images_of(std::span<const RankEnd> ends, std::span<const int> ranks) {
  std::vector<std::string> images;
  images.reserve(ranks.size());
  for (const int rank : ranks) images.push_back(image_of(ends, rank));
  return images;
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

JobEnd::JobEnd(JobRecord made, const Error& failed, std::vector<std::string> images)
    : job_(std::move(made)), images_(std::move(images)) {
  is_kept_ = failed || is_kept(job_.summary(), kept_jobs());
  if (is_kept_) written_ = failed ? Result<WrittenRecord>(failed) : job_.finish();
}

void JobEnd::remove_images() {
  if (is_safe()) remove_all(std::exchange(images_, {}));
}

void JobEnd::tell() const {
  if (const std::string risk = job_.held_twice(); !risk.empty()) say(risk);
  if (!is_kept_) return;
  JobStory story = job_.story();
  if (!files_go_on()) story.files = summary();
  if (!written_) {
    std::string text = "no record was written (" + written_.error().message + ")";
    if (!images_.empty()) {
      text += "; what was recorded is in " + directory_of(images_.front()) +
              ", 'headrace record gather' makes the record";
    }
    say(text);
  } else if (written_.value().path.empty()) {
    story.problem = written_.value().problem;
  } else if (!written_.value().problem.empty()) {
    say("the record is " + written_.value().path + " (" + written_.value().problem +
        "), set HEADRACE_LOGPATH to a directory that can be written to");
  } else {
    story.record = written_.value().path;
  }
  if (!settings().summary || settings().quiet) return;
  const bool is_known = story.ranks > 0;
  for (const std::string& line : is_known ? exit_lines(story) : story.files) say(line);
}

void finish_job(const Facts& facts, std::vector<std::string> images, const std::string& missing) {
  std::erase(images, "");
  if (images.empty()) images = images_of_node();
  if (images.empty()) {
    // Where it has none, why was told when MPI began.
    if (image() != nullptr) tell_lost(image()->path());
    return;
  }
  wait_for(images);
  JobRecord job(facts, record_places());
  const Error failed = add_images(job, images, missing);
  JobEnd end(std::move(job), failed, std::move(images));
  end.tell();
  end.remove_images();
}

void await_record() {
  const ImageFile* const own = image();
  if (own == nullptr) return;
  const std::string first = directory_of(own->path()) + "/rank-0";
  const auto end = std::chrono::steady_clock::now() + kPatienceForRecord;
  ImageHeader header{};
  while (read_header(first, header) && owner_runs(header) &&
         std::chrono::steady_clock::now() < end) {
    usleep(1000);
  }
}

}  // namespace headrace::record
