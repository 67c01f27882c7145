#include "topo/binding.h"

#include <dirent.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "base/small_file.h"

namespace headrace::topo {
namespace {

constexpr std::size_t kMostCpus = CpuSet().size();

/// Reads a number off the front of `text`; false where none is there.
bool take_number(std::string_view& text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char sign) {
  if (text.empty() || text.front() != sign) return false;
  text.remove_prefix(1);
  return true;
}

std::string counted(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

using Ranks = std::vector<std::size_t>;

/// The ranks of each node, the nodes in the order of their first ranks.
std::vector<Ranks> by_node(std::span<const Binding> ranks) {
  std::map<std::uint64_t, std::size_t> places;
  std::vector<Ranks> nodes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t place = places.emplace(ranks[rank].node, nodes.size()).first->second;
    if (place == nodes.size()) nodes.emplace_back();
    nodes[place].push_back(rank);
  }
  return nodes;
}

/// The first of a node's ranks that are bound to fewer CPUs than they are; empty where none are.
Ranks crowded(std::span<const Binding> ranks, const Ranks& on_node) {
  for (const std::size_t one : on_node) {
    const CpuSet& cpus = ranks[one].cpus;
    if (cpus.none()) continue;  // not known
    Ranks inside;
    std::ranges::copy_if(on_node, std::back_inserter(inside), [&](std::size_t other) {
      const CpuSet& own = ranks[other].cpus;
      return own.any() && (own & ~cpus).none();
    });
    if (inside.size() > cpus.count()) return inside;
  }
  return {};
}

std::string listed(const Ranks& ranks) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t place = 0; place < std::min(ranks.size(), kMost); ++place) {
    text += (place == 0 ? "" : ", ") + std::to_string(ranks[place]);
  }
  return text + (ranks.size() > kMost ? ", ..." : "");
}

/// Faults of one kind: the first, and on how many nodes there are any.
class Fault {
 public:
  void add(std::string text) {
    if (nodes_++ == 0) first_ = std::move(text);
  }
  void tell(std::vector<std::string>& lines, const std::string& remedy) const {
    if (nodes_ == 0) return;
    const std::string more = nodes_ > 1 ? " (and on " + counted(nodes_ - 1, "more node") + ")" : "";
    lines.push_back(first_ + more + ", " + remedy);
  }

 private:
  std::size_t nodes_ = 0;
  std::string first_;
};

}  // namespace

CpuSet cpus_of_thread(int thread) {
  CpuSet cpus;
  cpu_set_t set;
  static_assert(sizeof set * 8 >= kMostCpus);
  if (sched_getaffinity(thread, sizeof set, &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < kMostCpus; ++cpu) cpus[cpu] = CPU_ISSET(cpu, &set);
  return cpus;
}

CpuSet read_cpu_list(std::string_view text) {
  CpuSet cpus;
  std::size_t first = 0;
  while (take_number(text, first)) {
    std::size_t last = first;
    if (take(text, '-') && !take_number(text, last)) break;
    for (std::size_t cpu = first; cpu <= std::min(last, kMostCpus - 1); ++cpu) cpus.set(cpu);
    if (!take(text, ',')) break;
  }
  return cpus;
}

CpuSet cpus_near_network(const std::string& classes) {
  CpuSet near;
  for (const char* kind : {"/infiniband/", "/cxi/"}) {
    const std::string folder = classes + kind;
    const std::unique_ptr<DIR, int (*)(DIR*)> cards(opendir(folder.c_str()), &closedir);
    while (const dirent* card = cards ? readdir(cards.get()) : nullptr) {
      if (card->d_name[0] == '.') continue;
      near |= read_cpu_list(
          read_small_file((folder + card->d_name + "/device/local_cpulist").c_str(), 4096));
    }
  }
  return near;
}

std::string shown_cpus(const CpuSet& cpus, int node_cpus, const std::string& host) {
  std::string mask = cpus.to_string();
  const std::size_t highest = mask.find('1');
  const std::size_t needed = highest == std::string::npos ? 0 : mask.size() - highest;
  const std::size_t width = std::max({needed, static_cast<std::size_t>(std::max(node_cpus, 1))});
  mask.erase(0, mask.size() - std::min(width, mask.size()));
  return "cpumask set to " + counted(cpus.count(), "cpu") + " on " + host + ", cpumask = " + mask;
}

std::vector<std::string> binding_warnings(std::span<const Binding> ranks) {
  Fault many;
  Fault shared;
  Fault narrow;
  Fault far;
  for (const Ranks& on_node : by_node(ranks)) {
    const Binding& first = ranks[on_node.front()];
    const std::string& host = first.host;
    if (on_node.size() > std::size_t(std::max(first.node_cpus, 1))) {
      many.add(host + " has " + counted(on_node.size(), "rank") + " and " +
               counted(std::size_t(first.node_cpus), "CPU"));
    } else if (const Ranks inside = crowded(ranks, on_node); !inside.empty()) {
      shared.add("ranks " + listed(inside) + " on " + host + " share " +
                 counted(ranks[inside.front()].cpus.count(), "CPU") + " of " +
                 std::to_string(first.node_cpus));
    }
    const auto is_narrow = [&](std::size_t rank) {
      return ranks[rank].threads > 1 && ranks[rank].cpus.count() == 1 && ranks[rank].node_cpus > 1;
    };
    if (const auto one = std::ranges::find_if(on_node, is_narrow); one != on_node.end()) {
      narrow.add("rank " + std::to_string(*one) + " on " + host + " is bound to 1 CPU and has " +
                 counted(std::size_t(ranks[*one].threads), "thread"));
    }
    const auto is_far = [&](std::size_t rank) {
      const Binding& own = ranks[rank];
      return own.near_network.any() && own.cpus.any() && (own.cpus & own.near_network).none();
    };
    if (const auto one = std::ranges::find_if(on_node, is_far); one != on_node.end()) {
      far.add("rank " + std::to_string(*one) + " on " + host + " is far from the network card");
    }
  }
  std::vector<std::string> lines;
  many.tell(lines, "start fewer ranks on a node");
  shared.tell(lines,
              "bind each to its own (-bind-to core, --bind-to core or --cpu-bind=cores), or do not "
              "bind");
  narrow.tell(lines,
              "give each rank a CPU for each thread (-bind-to core:N, --map-by slot:PE=N or "
              "--cpus-per-task=N)");
  far.tell(lines, "bind ranks that send much to the card's socket");
  return lines;
}

std::string order_fault(std::string_view nodes, std::span<const Binding> ranks) {
  std::map<std::size_t, std::size_t> first_rank_of;  // by the order's node
  std::map<std::uint64_t, std::size_t> node_of;      // by where ranks run, the order's
  std::size_t rank = 0;
  std::size_t node = 0;
  while (rank < ranks.size() && take_number(nodes, node)) {
    std::size_t count = 1;
    if (take(nodes, '*') && !take_number(nodes, count)) return "";
    for (; count > 0 && rank < ranks.size(); --count, ++rank) {
      const std::size_t mate = first_rank_of.emplace(node, rank).first->second;
      const std::size_t here = node_of.emplace(ranks[rank].node, node).first->second;
      if (ranks[mate].node != ranks[rank].node) {
        return "rank " + std::to_string(rank) + " is on " + ranks[rank].host +
               ", and the rank order has it on one node with rank " + std::to_string(mate) +
               ", which is on " + ranks[mate].host;
      }
      if (here != node) {
        return "rank " + std::to_string(rank) + " is on " + ranks[rank].host +
               ", where the rank order has other ranks";
      }
    }
    if (!take(nodes, ',')) break;
  }
  return "";
}

}  // namespace headrace::topo
