#include "record/job_record.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <new>
#include <utility>

#include "record/private_directory.h"
#include "record/text_table.h"

namespace headrace::record {
namespace {

constexpr std::size_t kMostText = 4096;

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

Sections pack(const Facts& facts) {
  TextTable texts;
  std::vector<JobRow> rows;
  for (const auto& [name, value] : facts) rows.push_back({texts.place(name), texts.place(value)});
  Sections made;
  append_text_table(made, kOfJob, texts.texts());
  append_rows<JobRow>(made, Table::job, kOfJob, rows);
  return made;
}

bool is_forbidden(const Error& failed) {
  return failed.system_error == EACCES || failed.system_error == EPERM ||
         failed.system_error == EROFS;
}

}  // namespace

bool is_kept(const JobSummary& job, const KeptJobs& kept) {
  if (!job.is_complete()) return true;
  if (job.rank_count == 1 && job.moved == 0 && !kept.has_idle) return false;
  return job.run >= kept.shortest;
}

Facts JobRecord::facts() const {
  Facts facts = known_;
  for (const auto& [name, value] : of_first_node_) {
    const bool is_of_rank = name == "host" || name == "cores";
    if (!is_of_rank) add_if_new(facts, name, value);
  }
  add_if_new(facts, "ranks", std::to_string(summary_.rank_count));
  add_if_new(facts, "nodes", std::to_string(summary_.nodes));
  add_if_new(facts, "start", local_time(summary_.start));
  add_if_new(facts, "seconds", seconds_of(summary_.run));
  add_if_new(facts, "complete", summary_.is_complete() ? "1" : "0");
  add_if_new(facts, "headrace", HEADRACE_VERSION);
  if (summary_.lost_calls > 0) {
    add_if_new(facts, "lost_calls", std::to_string(summary_.lost_calls));
  }
  if (!left_out_.empty()) add_if_new(facts, "left_out", left_out_.substr(0, kMostText));
  return facts;
}

void JobRecord::leave_out(std::string what) {
  left_out_ += (left_out_.empty() ? "" : "; ") + std::move(what);
}

std::string JobRecord::held_twice() const {
  const auto is_held_twice = [](const auto& file) { return file.second > 1; };
  const auto first = std::ranges::find_if(held_files_, is_held_twice);
  if (first == held_files_.end()) return {};
  const auto more = std::ranges::count_if(held_files_, is_held_twice) - 1;
  return "'" + first->first + "'" +
         (more > 0 ? " and " + std::to_string(more) + " more files were" : " was") +
         " written through buffers by processes of several nodes, which do not see each other "
         "(what some of them wrote may be lost), name in HEADRACE_IOBUF only files of one process";
}

JobStory JobRecord::story() const {
  JobStory story;
  story.times = summary_.times;
  story.ranks = summary_.ranks;
  story.nodes = summary_.nodes;
  story.first = first_;
  if (!summary_.is_complete()) {
    story.lacks = "of " + std::to_string(summary_.rank_count) + " ranks " +
                  std::to_string(summary_.finalized) + " came to MPI_Finalize";
  }
  return story;
}

Error JobRecord::open(const RecordPlace& place) {
  if (place.is_private) {
    if (Error failed = make_private_directory(place.path)) return failed;
  }
  const Facts known = facts();
  const std::string script = value_of(known, "script");
  const std::string program = script.empty() ? value_of(known, "program") : script;
  const std::string name = record_name(program, value_of(known, "job"), summary_.rank_count,
                                       summary_.nodes, summary_.start);
  Result<RecordFile> made = RecordFile::make(place.path, name);
  if (!made) return made.error();
  file_.emplace(std::move(made.value()));
  return {};
}

/// In the first directory that can be written to.
Error JobRecord::begin() {
  Error failed{ErrorClass::no_such_file, 0, "no directory is given"};
  for (const RecordPlace& place : places_) {
    failed = open(place);
    has_no_place_ = failed && place.is_default && is_forbidden(failed);
    if (!failed || has_no_place_) return failed;
    if (problem_.empty()) problem_ = failed.message;
  }
  return failed;
}

Error JobRecord::write_kept() {
  for (const Sections& each : kept_) {
    if (Error failed = file_->add(each)) return failed;
  }
  return {};
}

Error JobRecord::add(GatheredNode node) {
  try {
    if (of_first_node_.empty()) {
      of_first_node_ = std::move(node.record.facts);
      first_ = std::move(node.record.first);
    }
    summary_.add(node.record.summary);
    for (std::string& each : node.record.held_files) held_files_[std::move(each)] += 1;
    for (std::string& each : node.left_out) leave_out(std::move(each));
    if (lost_) return lost_;
    kept_bytes_ += node.record.sections.bytes.size();
    kept_.push_back(std::move(node.record.sections));
    if (kept_bytes_ <= most_kept_ && !file_) return {};
    lost_ = file_ ? Error() : begin();
    if (!lost_) lost_ = write_kept();
    if (lost_) file_.reset();
  } catch (const std::bad_alloc&) {
    lost_ = out_of_memory();
    file_.reset();
  }
  kept_.clear();
  return lost_;
}

Error JobRecord::write(const RecordPlace& place, const Sections& of_job, std::string& path) {
  Error failed = open(place);
  if (!failed) failed = file_->add(of_job);
  if (!failed) failed = write_kept();
  if (!failed) {
    Result<std::string> finished = file_->finish();
    if (finished) {
      path = std::move(finished.value());
    } else {
      failed = finished.error();
    }
  }
  file_.reset();
  return failed;
}

Result<WrittenRecord> JobRecord::finish() {
  try {
    if (lost_ && has_no_place_) return WrittenRecord{"", lost_.message};
    if (lost_) return lost_;
    const Sections of_job = pack(facts());
    if (file_) {
      if (Error failed = file_->add(of_job)) return failed;
      Result<std::string> path = file_->finish();
      if (!path) return path.error();
      return WrittenRecord{std::move(path.value()), problem_};
    }
    Error failed{ErrorClass::no_such_file, 0, "no directory is given"};
    for (const RecordPlace& place : places_) {
      WrittenRecord written;
      failed = write(place, of_job, written.path);
      written.problem = problem_;
      if (!failed) return written;
      if (problem_.empty()) problem_ = failed.message;
      if (place.is_default && is_forbidden(failed)) return WrittenRecord{"", problem_};
    }
    return failed;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace headrace::record
