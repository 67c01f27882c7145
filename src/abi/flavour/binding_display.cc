#include "abi/flavour/binding_display.h"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "abi/flavour/library_version.h"
#include "abi/flavour/native.h"
#include "abi/flavour/node_numbers.h"
#include "base/message.h"
#include "base/result.h"
#include "base/settings.h"
#include "topo/binding.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// A binding as plain numbers, which rank 0 receives of each rank.
struct Told {
  std::array<char, 64> host;
  std::uint64_t node;
  std::array<std::uint64_t, 16> cpus;
  std::array<std::uint64_t, 16> near_network;
  std::int32_t node_cpus;
  std::int32_t threads;
};

std::array<std::uint64_t, 16> words(const topo::CpuSet& set) {
  std::array<std::uint64_t, 16> packed{};
  for (std::size_t cpu = 0; cpu < set.size(); ++cpu) {
    if (set[cpu]) packed[cpu / 64] |= std::uint64_t{1} << cpu % 64;
  }
  return packed;
}

topo::CpuSet set_of(const std::array<std::uint64_t, 16>& packed) {
  topo::CpuSet set;
  for (std::size_t cpu = 0; cpu < set.size(); ++cpu) {
    set[cpu] = (packed[cpu / 64] >> cpu % 64 & 1) != 0;
  }
  return set;
}

/// That OpenMP was told to start.
int wanted_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 1 : std::clamp(std::atoi(text), 1, 4096);
}

Told own_binding() {
  Told own{};
  const std::string host = topo::host_name();
  std::memcpy(own.host.data(), host.data(), std::min(host.size(), own.host.size() - 1));
  own.node = node_key();
  own.cpus = words(topo::cpus_of_thread(0));
  own.near_network = words(topo::cpus_near_network());
  own.node_cpus = topo::node_cores();
  own.threads = wanted_threads();
  return own;
}

topo::Binding binding_of(const Told& told) {
  return {told.host.data(),          told.node,      set_of(told.cpus),
          set_of(told.near_network), told.node_cpus, told.threads};
}

std::string process(std::size_t rank) {
  return "[PE_" + std::to_string(rank) + "]: ";
}

void show(const std::vector<topo::Binding>& ranks) {
  const Settings& wanted = settings();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const topo::Binding& one = ranks[rank];
    if (wanted.rank_display) {
      print_message(process(0) + "rank " + std::to_string(rank) + " is on " + one.host);
    }
    if (wanted.cpumask_display) {
      print_message(process(rank) + topo::shown_cpus(one.cpus, one.node_cpus, one.host));
    }
  }
  if (wanted.rank_display || wanted.cpumask_display) {
    for (const std::string& line : topo::binding_warnings(ranks)) print_message(line);
  }
  const std::string fault = topo::order_fault(wanted.rank_nodes, ranks);
  if (!fault.empty()) {
    print_message(fault +
                  " (the launcher did not follow the order), see what 'headrace run --dry-run' "
                  "tells it");
  }
}

/// In Open MPI 5 a message that comes before its receiver has left MPI_Init ends the receiver
/// (SIGSEGV, its issue 12495). Ranks that Slurm started leave it some milliseconds apart.
void let_all_leave_init() {
  if (library_version().starts_with("Open MPI v5")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

bool is_wanted() {
  const Settings& wanted = settings();
  return wanted.rank_display || wanted.cpumask_display || !wanted.rank_nodes.empty();
}

}  // namespace

void show_bindings() {
  if (!is_wanted()) return;
  let_all_leave_init();
  int rank = 0;
  int size = 0;
  native.Comm_rank(MPI_COMM_WORLD, &rank);
  native.Comm_size(MPI_COMM_WORLD, &size);
  Told own{};
  std::vector<Told> all;
  const Error lacking = attempt([&]() -> Error {
    own = own_binding();
    if (rank == 0) all.resize(std::size_t(size));
    return {};
  });
  if (!is_true_of_all(MPI_COMM_WORLD, !lacking)) return;
  if (native.Gather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0,
                    MPI_COMM_WORLD) != MPI_SUCCESS ||
      rank != 0) {
    return;
  }
  static_cast<void>(attempt([&]() -> Error {
    std::vector<topo::Binding> ranks(all.size());
    std::ranges::transform(all, ranks.begin(), &binding_of);
    show(ranks);
    return {};
  }));
}

void show_threads(int rank) {
  if (!settings().cpumask_display) return;
  constexpr std::size_t kMost = 256;
  static_cast<void>(attempt([&]() -> Error {
    std::vector<int> threads;
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
    while (const dirent* task = tasks ? readdir(tasks.get()) : nullptr) {
      const int number = std::atoi(task->d_name);
      if (number > 0 && threads.size() < kMost) threads.push_back(number);
    }
    if (threads.size() < 2) return {};
    std::ranges::sort(threads);
    const std::string host = topo::host_name();
    for (std::size_t place = 0; place < threads.size(); ++place) {
      print_message(
          process(std::size_t(rank)) + "thread " + std::to_string(place) + ": " +
          topo::shown_cpus(topo::cpus_of_thread(threads[place]), topo::node_cores(), host));
    }
    return {};
  }));
}

}  // namespace headrace::HEADRACE_FLAVOUR
