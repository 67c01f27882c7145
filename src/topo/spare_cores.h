#pragma once

#include <string_view>

namespace headrace::topo {

/// Ranks of this job on this node, as the launcher's environment variables tell; 0 if they do not.
/// The first call reads the environment.
int ranks_on_node();

/// The largest number of tasks on one node in Slurm's form "8(x3),5": 8. 0 for anything else.
int most_tasks(std::string_view tasks_per_node);

/// Lets the calling thread run on every core that the job may use on this node, if there are more
/// such cores than `ranks`. Launchers bind a rank, and so its threads, to one core even if others
/// are idle. If cores are short, or `ranks` is 0, nothing changes.
void use_spare_cores(int ranks);

}  // namespace headrace::topo
