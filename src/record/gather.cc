#include "record/gather.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <new>
#include <optional>

#include "record/image_reader.h"
#include "record/record_file.h"
#include "record/text_table.h"

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

bool has(const Facts& facts, std::string_view name) {
  return std::ranges::any_of(facts, [&](const auto& fact) { return fact.first == name; });
}

std::string value_of(const Facts& facts, std::string_view name) {
  const auto found =
      std::ranges::find_if(facts, [&](const auto& each) { return each.first == name; });
  return found == facts.end() ? "" : found->second;
}

void add_if_new(Facts& facts, std::string name, std::string value) {
  if (!has(facts, name)) facts.emplace_back(std::move(name), std::move(value));
}

/// With the zone, as 2026-11-28T10:15:00+0100.
std::string local_time(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm local{};
  std::array<char, 40> text{};
  if (::localtime_r(&seconds, &local) == nullptr) return "";
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &local);
  return text.data();
}

std::string seconds_of(std::int64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6f", static_cast<double>(ns) / 1e9);
  return text.data();
}

struct Job {
  JobSummary summary;
  Facts facts;
};

Job job_of(std::span<const GatheredNode> nodes, const Facts& known) {
  Job job{{}, known};
  std::string left_out;
  for (const GatheredNode& node : nodes) {
    job.summary.add(node.record.summary);
    for (const std::string& each : node.left_out) left_out += (left_out.empty() ? "" : "; ") + each;
  }
  if (!nodes.empty()) {
    for (const auto& [name, value] : nodes.front().record.facts) {
      const bool is_of_rank = name == "host" || name == "cores";
      if (!is_of_rank) add_if_new(job.facts, name, value);
    }
  }
  add_if_new(job.facts, "ranks", std::to_string(job.summary.rank_count));
  add_if_new(job.facts, "nodes", std::to_string(job.summary.nodes));
  add_if_new(job.facts, "start", local_time(job.summary.start));
  add_if_new(job.facts, "seconds", seconds_of(job.summary.run));
  add_if_new(job.facts, "complete", job.summary.is_complete() ? "1" : "0");
  add_if_new(job.facts, "headrace", HEADRACE_VERSION);
  constexpr std::size_t kMostText = 4096;
  if (!left_out.empty()) add_if_new(job.facts, "left_out", left_out.substr(0, kMostText));
  return job;
}

Sections pack(const Facts& facts) {
  TextTable texts;
  std::vector<JobRow> rows;
  for (const auto& [name, value] : facts) rows.push_back({texts.place(name), texts.place(value)});
  Sections made;
  append_text_table(made, kOfJob, texts.texts());
  append_rows<JobRow>(made, Table::job, kOfJob, rows);
  return made;
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

Result<std::string> write_job_record(std::span<const GatheredNode> nodes, const Facts& known,
                                     const std::string& directory) {
  try {
    const Job job = job_of(nodes, known);
    Result<RecordFile> file = RecordFile::make(
        directory, record_name(value_of(job.facts, "program"), value_of(job.facts, "job"),
                               job.summary.rank_count, job.summary.nodes, job.summary.start));
    if (!file) return file.error();
    if (Error failed = file.value().add(pack(job.facts))) return failed;
    for (const GatheredNode& node : nodes) {
      if (Error failed = file.value().add(node.record.sections)) return failed;
    }
    return file.value().finish();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::string> write_record(std::span<const std::string> image_paths, const Facts& known,
                                 const std::string& directory) {
  Result<GatheredNode> node = gather_images(image_paths, 0);
  if (!node) return node.error();
  return write_job_record({&node.value(), 1}, known, directory);
}

}  // namespace headrace::record
