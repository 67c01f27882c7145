#include "topo/node.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/small_file.h"

namespace headrace::topo {
namespace {

std::string link_target(const char* path, const std::string& otherwise) {
  std::array<char, 128> target{};
  const ssize_t len = readlink(path, target.data(), target.size());
  return len > 0 ? std::string(target.data(), static_cast<std::size_t>(len)) : otherwise;
}

std::string boot_id() {
  const std::string text = read_small_file("/proc/sys/kernel/random/boot_id", 64);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string node_identity() {
  std::string boot = boot_id();
  // Without a boot id (no /proc) the host name must do: whether ranks can share memory is checked
  // anyway.
  if (boot.empty()) boot = host_name();
  return boot + "/" + link_target("/proc/self/ns/pid", "?") + "/" +
         link_target("/proc/self/ns/ipc", "?");
}

std::string network_identity() {
  const std::string boot = boot_id();
  const std::string network = link_target("/proc/self/ns/net", "");
  return boot.empty() || network.empty() ? "" : boot + "/" + network;
}

int node_cores() {
  // Read once: the C library opens a file for it.
  static const int cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return cores;
}

}  // namespace headrace::topo
