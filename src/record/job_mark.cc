#include "record/job_mark.h"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/small_file.h"
#include "record/image_owner.h"

namespace headrace::record {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number_of(const char* name) {
  return std::atoi(variable(name).c_str());
}

/// By these launchers tell a process which rank of which job it is.
constexpr std::array<std::string_view, 14> kOfLaunchers = {
    "PMI_FD",      "PMI_PORT",       "PMI_RANK",      "PMIX_NAMESPACE", "PMIX_RANK",
    "PALS_APID",   "PALS_RANKID",    "ALPS_APP_ID",   "ALPS_APP_PE",    "OMPI_COMM_WORLD_RANK",
    "FLUX_JOB_ID", "FLUX_TASK_RANK", "SLURM_STEP_ID", "SLURM_PROCID"};

/// The values that a process was started with, "" if it has none; none if it cannot be read.
std::optional<std::string> launch_of(const std::string& process) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const std::string all = read_small_file(("/proc/" + process + "/environ").c_str(), kMost);
  if (all.empty()) return std::nullopt;
  std::array<std::string_view, kOfLaunchers.size()> values;
  for (std::size_t at = 0; at < all.size();) {
    const std::string_view one(all.c_str() + at);
    at += one.size() + 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (one.starts_with(kOfLaunchers[i]) && one.substr(kOfLaunchers[i].size()).starts_with('=')) {
        values[i] = one.substr(kOfLaunchers[i].size());
      }
    }
  }
  std::string found;
  bool has_any = false;
  for (const std::string_view value : values) {
    has_any = has_any || !value.empty();
    found.append(value).push_back('\n');
  }
  return has_any ? found : "";
}

/// The launcher's process that started this rank: the next one above that was not started as this
/// rank itself, as shells and tools between them are. None where it is in another container, or
/// where one of them cannot be read: it may have started this rank alone.
std::optional<ProcessName> find_launcher() {
  constexpr int kMostAbove = 64;
  const std::optional<std::string> own = launch_of("self");
  if (!own || own->empty()) return std::nullopt;
  int process = getppid();
  for (int above = 0; above < kMostAbove && process > 0; ++above) {
    const std::optional<std::string> other = launch_of(std::to_string(process));
    if (!other) return std::nullopt;
    if (other != own) return ProcessName{process, process_start(process)};
    process = parent_process(process);
  }
  return std::nullopt;
}

/// Empty where the launcher has no name for the job.
std::string name_by_launcher() {
  if (const std::string space = variable("PMIX_NAMESPACE"); !space.empty()) return "pmix-" + space;
  if (!variable("PMI_FD").empty()) return "";
  if (const std::string id = variable("PALS_APID"); !id.empty()) return "pals-" + id;
  if (const std::string id = variable("ALPS_APP_ID"); !id.empty()) return "alps-" + id;
  const std::string id = variable("SLURM_JOB_ID");
  const std::string step = variable("SLURM_STEP_ID");
  if (!id.empty() && !step.empty() && !variable("SLURM_PROCID").empty()) {
    return "slurm-" + id + "." + step;
  }
  return "";
}

/// Of a job with so many ranks, those on this node; 0 if no launcher tells. One launcher may have
/// started another, so those that tell of another number of ranks, or contradict, do not count.
int ranks_on_node(int ranks) {
  struct Names {
    const char* ranks;
    const char* on_node;
  };
  int found = 0;
  for (const Names& names :
       {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        Names{"PMI_SIZE", "MPI_LOCALNRANKS"}, Names{"PALS_SIZE", "PALS_LOCAL_SIZE"}}) {
    const int on_node = number_of(names.on_node);
    if (number_of(names.ranks) != ranks || on_node <= 0) continue;
    if (found != 0 && found != on_node) return 0;
    found = on_node;
  }
  return found;
}

/// Letters, digits and `.-_@`, 100 at most.
std::string fit_for_a_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '@') {
      c = '_';
    }
  }
  if (text.starts_with('.')) text[0] = '_';
  return text.substr(0, 100);
}

}  // namespace

std::string JobMark::name(const ProcessName& other) const {
  if (other.number == 0) return base;
  return base + "-" + std::to_string(other.number) + "-" + std::to_string(other.start);
}

JobMark find_job_mark(int ranks, bool is_spawned) {
  JobMark mark;
  mark.ranks = ranks;
  const std::string name = name_by_launcher();
  const char* const nameless = variable("PMI_FD").empty() ? "process" : "hydra";
  mark.base = fit_for_a_name(name.empty() ? nameless : name);
  for (const char* const id : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID",
                               "FLUX_JOB_ID", "PALS_APID"}) {
    mark.number = fit_for_a_name(variable(id));
    if (!mark.number.empty()) break;
  }
  const ProcessName own{getpid(), process_start(getpid())};
  if (ranks == 1) {
    // It may have the variables of a job from which it was started.
    mark.process = own;
    mark.ranks_on_node = 1;
    return mark;
  }
  // Hydra's process starts all jobs that a job spawns, and tells them the same.
  const std::optional<ProcessName> launcher = is_spawned ? std::nullopt : find_launcher();
  if (launcher) mark.process = *launcher;
  if (!launcher && (is_spawned || name.empty())) {
    mark.process = own;
  } else {
    mark.ranks_on_node = ranks_on_node(ranks);
  }
  return mark;
}

}  // namespace headrace::record
