#include "topo/node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace headrace::topo {
namespace {

std::string link_target(const char* path) {
  std::array<char, 128> target{};
  const ssize_t len = readlink(path, target.data(), target.size());
  return len > 0 ? std::string(target.data(), static_cast<std::size_t>(len)) : std::string("?");
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string node_identity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Without a boot id (no /proc) the host name has to do; sharing memory is checked anyway.
  if (boot.empty()) boot = host_name();
  return boot + "/" + link_target("/proc/self/ns/pid") + "/" + link_target("/proc/self/ns/ipc");
}

int node_cores() {
  // Asked once: the C library reads a file for it.
  static const int cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return cores;
}

}  // namespace headrace::topo
