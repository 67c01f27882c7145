#pragma once

#include <string>

namespace headrace::topo {

/// A value that is equal for two processes exactly when they run on one node and can see each other
/// there: the kernel's boot id and the process's PID and IPC namespaces. Processes of different
/// containers on one machine get different values, so they never try to share memory.
std::string node_identity();

/// A value that is equal for two processes exactly when they have the same network addresses,
/// loopback included: the kernel's boot id and the process's network namespace. Empty if unknown.
std::string network_identity();

/// This node's host name, as hints that list hosts have it; empty if it has none.
std::string host_name();

/// Cores of this node that are online, at least 1. Not only those that this process is bound to:
/// callers ask whether all ranks of the node can run at the same time.
int node_cores();

}  // namespace headrace::topo
