#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::topo {

/// CPUs of a node by their numbers.
using CpuSet = std::bitset<1024>;

/// Where one rank runs.
struct Binding {
  std::string host;
  std::uint64_t node = 0;  ///< equal for ranks of one node
  CpuSet cpus;             ///< on which it may run
  CpuSet near_network;     ///< of its node, those next to a network card; none if that is not known
  int node_cpus = 0;
  int threads = 1;  ///< that it was told to start, itself included
};

/// The CPUs on which a thread may run; 0 is the calling one.
CpuSet cpus_of_thread(int thread);

/// Lists of the kernel's such as 0-3,8. What is no number ends the reading.
CpuSet read_cpu_list(std::string_view text);

/// The CPUs next to this node's network cards (InfiniBand, Slingshot), as the kernel tells below
/// `classes`; none where it does not.
CpuSet cpus_near_network(const std::string& classes = "/sys/class");

/// As Cray's aprun shows it: "cpumask set to 2 cpus on n0, cpumask = 0011", the highest CPU first.
std::string shown_cpus(const CpuSet& cpus, int node_cpus, const std::string& host);

/// What is wrong with the bindings of a job's ranks, each with what to do; a line for each kind of
/// fault.
std::vector<std::string> binding_warnings(std::span<const Binding> ranks);

/// Compares where ranks run with an order: `nodes` has the node of each rank as "0*2,1*2". Empty
/// where all is as it should be; else what is not, for people.
std::string order_fault(std::string_view nodes, std::span<const Binding> ranks);

}  // namespace headrace::topo
