#pragma once

#include <string>

namespace headrace::topo {

/// A value that is equal for two processes exactly when they run on one node and can see each other
/// there: the kernel's boot id and the process's PID and IPC namespaces. Processes of different
/// containers on one machine get different values, so they never try to share memory.
std::string node_identity();

/// A value that is equal for two processes exactly when the addresses of one are those of the
/// other, loopback included: the kernel's boot id and the process's network namespace. Empty where
/// that is not known.
std::string network_identity();

/// This node's name in the network, as hint lists of hosts have it; empty where it has none.
std::string host_name();

/// Cores of this node that are switched on, at least 1. Not those this process is bound to: the
/// question is whether all ranks of the node can run at the same time.
int node_cores();

}  // namespace headrace::topo
