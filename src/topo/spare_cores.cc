#include "topo/spare_cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace headrace::topo {
namespace {

/// Set by the launchers of MPICH and Intel MPI (Hydra), Open MPI, MVAPICH and PMI.
constexpr const char* kLocalSizes[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                       "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE"};
constexpr const char* kSlurmTasks = "SLURM_STEP_TASKS_PER_NODE";

int number_at_begin(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max(number, 0);
}

int ranks_from_launcher() {
  for (const char* name : kLocalSizes) {
    if (const char* value = std::getenv(name)) return number_at_begin(value);
  }
  const char* tasks = std::getenv(kSlurmTasks);
  return tasks == nullptr ? 0 : most_tasks(tasks);
}

}  // namespace

int ranks_on_node() {
  static const int ranks = ranks_from_launcher();
  return ranks;
}

int most_tasks(std::string_view tasks_per_node) {
  int most = 0;
  while (!tasks_per_node.empty()) {
    most = std::max(most, number_at_begin(tasks_per_node));
    const std::size_t comma = tasks_per_node.find(',');
    tasks_per_node.remove_prefix(comma == std::string_view::npos ? tasks_per_node.size()
                                                                 : comma + 1);
  }
  return most;
}

void use_spare_cores(int ranks) {
  cpu_set_t bound;
  if (ranks == 0 || sched_getaffinity(0, sizeof bound, &bound) != 0) return;
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  // The kernel leaves out the cores that are not in the job's control group.
  if (sched_setaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t allowed;
  const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  if (!is_known || CPU_COUNT(&allowed) <= ranks) sched_setaffinity(0, sizeof bound, &bound);
}

}  // namespace headrace::topo
