#include "record/process_facts.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/process_environment.h"
#include "base/settings.h"
#include "base/small_file.h"
#include "record/python_layout.h"

namespace headrace::record {
namespace {

// Not all that begins so: of MPI's and the launchers' variables some have addresses and keys.
constexpr std::array kAllowed = {
    "OMP_NUM_THREADS",   "OMP_PROC_BIND",       "OMP_PLACES",           "OMP_SCHEDULE",
    "OMP_STACKSIZE",     "MKL_NUM_THREADS",     "OPENBLAS_NUM_THREADS", "KMP_AFFINITY",
    "GOMP_CPU_AFFINITY", "MALLOC_ARENA_MAX",    "SLURM_JOB_ID",         "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS",      "SLURM_CPUS_PER_TASK", "SLURM_JOB_PARTITION",  "PBS_JOBID",
    "PBS_QUEUE",         "LSB_JOBID",           "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "UCX_TLS",           "UCX_NET_DEVICES",     "FI_PROVIDER",          "LD_PRELOAD"};
constexpr std::array kAllowedBeginnings = {
    "MPICH_",         "MPIR_CVAR_",      "I_MPI_ADJUST_", "I_MPI_FABRICS", "I_MPI_PIN",
    "OMPI_MCA_coll_", "OMPI_MCA_mpi_",   "OMPI_MCA_btl",  "OMPI_MCA_pml",  "OMPI_MCA_io",
    "OMPI_MCA_fcoll", "OMPI_MCA_rmaps_", "ROMIO_"};

/// Of ours only settings: people make up names of their own that begin so.
bool is_setting(std::string_view name) {
  static const std::vector<SettingInForce> all = settings_in_force(settings());
  return std::ranges::find(all, name, &SettingInForce::name) != all.end();
}

bool is_allowed(std::string_view name) {
  if (name.starts_with("HEADRACE_")) return is_setting(name);
  return std::ranges::find(kAllowed, name) != kAllowed.end() ||
         std::ranges::any_of(kAllowedBeginnings, [&](std::string_view beginning) {
           return name.starts_with(beginning);
         });
}

std::string link_of(const char* path) {
  std::array<char, 4096> text{};
  const ssize_t length = readlink(path, text.data(), text.size());
  return length <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(length));
}

/// The words, with blanks between them.
std::string command_line(std::string words) {
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  return words;
}

/// What the interpreter of Python runs: a file's name without directory and .py, or a module's;
/// empty if the program is none, or runs neither.
std::string python_script(std::string_view program, std::string_view words) {
  if (!program.substr(program.rfind('/') + 1).starts_with("python")) return "";
  std::vector<std::string_view> all;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\0'), words.size());
    all.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string_view word = all[i];
    if (word == "-m" && i + 1 < all.size()) {
      if (all[++i] != "mpi4py") return std::string(all[i]);
      continue;  // which runs a script
    }
    if (word == "-c" || word == "-") return "";
    if (word == "-W" || word == "-X") {
      ++i;  // has a word of its own
    } else if (!word.starts_with('-')) {
      std::string_view name = word.substr(word.rfind('/') + 1);
      if (name.ends_with(".py")) name.remove_suffix(3);
      return std::string(name);
    }
  }
  return "";
}

std::string own_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return core_list(cores);
}

}  // namespace

std::string core_list(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
    if (end - i > 1) text += "-" + std::to_string(cores[end - 1]);
    i = end;
  }
  return text;
}

Facts process_facts() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string program = link_of("/proc/self/exe");
  const std::string words = read_small_file("/proc/self/cmdline", 4000);
  Facts facts = {{"host", host.data()},
                 {"program", program},
                 {"command", command_line(words)},
                 {"directory", link_of("/proc/self/cwd")},
                 {"cores", own_cores()}};
  if (std::string script = python_script(program, words); !script.empty()) {
    facts.emplace_back("script", std::move(script));
  }
  if (std::string python = python_version(); !python.empty()) {
    if (!find_python()) facts.emplace_back("python_without_lines", python);
    facts.emplace_back("python", std::move(python));
  }
  return facts;
}

Facts allowed_variables() {
  Facts found;
  for (const char* const* each = process_environment(); *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !is_allowed(entry.substr(0, equals))) continue;
    found.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace headrace::record
