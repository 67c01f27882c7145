#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace headrace::bench::collectives {

/// What a node's network interfaces have sent.
struct Sent {
  std::int64_t bytes = 0;
  std::int64_t packets = 0;

  Sent& operator+=(const Sent& other) {
    bytes += other.bytes;
    packets += other.packets;
    return *this;
  }
};

/// Where Linux tells it; tests have places of their own.
struct CounterPlaces {
  std::filesystem::path devices = "/proc/net/dev";  ///< of this process's network namespace
  std::filesystem::path interfaces = "/sys/class/net";
  std::filesystem::path rdma = "/sys/class/infiniband";
};

namespace sent_counters {

/// ARPHRD_INFINIBAND: IP over InfiniBand.
constexpr std::int64_t kInfiniBandType = 32;

inline std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::int64_t value = 0;
  if (stream >> value && value >= 0) return value;
  return std::nullopt;
}

/// Empty where there is no such directory.
inline std::filesystem::directory_iterator entries_of(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::directory_iterator(directory, ignored);
}

/// Ports of InfiniBand and RoCE: port_xmit_data is in units of 4 bytes
/// (Documentation/ABI/stable/sysfs-class-infiniband of Linux). What RoCE sends is not in the
/// counters of the Ethernet interface. Nothing where no port tells.
inline std::optional<Sent> of_ports(const std::filesystem::path& rdma) {
  std::optional<Sent> all;
  for (const auto& device : entries_of(rdma)) {
    for (const auto& port : entries_of(device.path() / "ports")) {
      const auto counters = port.path() / "counters";
      const auto words = number_in(counters / "port_xmit_data");
      const auto packets = number_in(counters / "port_xmit_packets");
      if (!words || !packets) continue;
      if (!all) all.emplace();
      *all += Sent{*words * 4, *packets};
    }
  }
  return all;
}

/// Whether it sends by way of others, which count the same bytes: a bond, a bridge, a VLAN.
inline bool has_lower(const std::filesystem::path& interface) {
  for (const auto& entry : entries_of(interface)) {
    if (entry.path().filename().string().starts_with("lower_")) return true;
  }
  return false;
}

/// A line of /proc/net/dev behind its colon: eight numbers of what came, then bytes, packets, ...
inline std::optional<Sent> of_line(const std::string& numbers) {
  std::istringstream stream(numbers);
  std::array<std::int64_t, 10> values{};
  for (std::int64_t& value : values) {
    if (!(stream >> value)) return std::nullopt;
  }
  return Sent{values[8], values[9]};
}

/// All interfaces but the loopback and those whose bytes others count, too.
inline std::optional<Sent> of_interfaces(const CounterPlaces& places, bool ports_count) {
  std::ifstream stream(places.devices);
  if (!stream) return std::nullopt;
  Sent all;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t begin = line.find_first_not_of(' ');
    if (colon == std::string::npos || begin >= colon) continue;
    const std::string name = line.substr(begin, colon - begin);
    const auto sent = of_line(line.substr(colon + 1));
    if (!sent || name == "lo" || has_lower(places.interfaces / name)) continue;
    const bool is_of_port = number_in(places.interfaces / name / "type") == kInfiniBandType;
    if (ports_count && is_of_port) continue;
    all += *sent;
  }
  return all;
}

}  // namespace sent_counters

/// What this node has sent so far, by the counters of its network interfaces: all they carry, with
/// headers, for whatever process. Interfaces that bypass the kernel and have no such counters
/// are not seen. Nothing where none can be read.
inline std::optional<Sent> sent_so_far(const CounterPlaces& places = {}) {
  const auto ports = sent_counters::of_ports(places.rdma);
  auto all = sent_counters::of_interfaces(places, ports.has_value());
  if (!all) return ports;
  if (ports) *all += *ports;
  return all;
}

}  // namespace headrace::bench::collectives
