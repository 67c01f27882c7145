#pragma once

#include <string_view>

namespace headrace::topo {

/// Ranks of this job on this node as its launcher tells them by the environment; 0 where it does
/// not. The environment is read by the first call.
int ranks_on_node();

/// The largest number of tasks on one node in Slurm's form "8(x3),5": 8. 0 for anything else.
int most_tasks(std::string_view tasks_per_node);

/// Lets the calling thread run on every core that the job may use on this node, if they outnumber
/// its `ranks` there. Launchers bind a rank, and so the threads it makes, to a core, also where
/// other cores have nothing to do. Where cores are short, or `ranks` is 0, nothing changes.
void use_spare_cores(int ranks);

}  // namespace headrace::topo
