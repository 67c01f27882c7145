#include "exchange/network_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

namespace headrace::exchange {
namespace {

constexpr NetworkAddress kLoopback[] = {
    {{127, 0, 0, 1}, 4, 8},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 6, 128},
};

/// The bytes of an IPv4 or IPv6 address; empty for other families.
std::span<const std::uint8_t> bytes_of(const sockaddr* address) {
  const void* bytes = nullptr;
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    return {static_cast<const std::uint8_t*>(bytes), 4};
  }
  if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    return {static_cast<const std::uint8_t*>(bytes), 16};
  }
  return {};
}

bool is_link_local(std::span<const std::uint8_t> bytes) {
  return bytes.size() == 16 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

std::optional<NetworkAddress> usable_address(const ifaddrs& entry) {
  if ((entry.ifa_flags & IFF_UP) == 0 || (entry.ifa_flags & IFF_LOOPBACK) != 0) return {};
  const std::span<const std::uint8_t> bytes = bytes_of(entry.ifa_addr);
  if (bytes.empty() || is_link_local(bytes)) return {};
  NetworkAddress address;
  std::ranges::copy(bytes, address.bytes.begin());
  address.version = bytes.size() == 4 ? 4 : 6;
  for (const std::uint8_t mask : bytes_of(entry.ifa_netmask)) {
    address.prefix_len = static_cast<std::uint8_t>(address.prefix_len + std::popcount(mask));
  }
  return address;
}

bool has_same_bytes(const NetworkAddress& a, const NetworkAddress& b) {
  return a.version == b.version && a.bytes == b.bytes;
}

bool is_same_subnet(const NetworkAddress& a, const NetworkAddress& b) {
  if (a.version != b.version || a.prefix_len != b.prefix_len) return false;
  const auto bit = [](const NetworkAddress& address, int i) {
    return address.bytes[static_cast<std::size_t>(i / 8)] >> (7 - i % 8) & 1;
  };
  for (int i = 0; i < std::min<int>(a.prefix_len, 8 * std::ssize(a.bytes)); ++i) {
    if (bit(a, i) != bit(b, i)) return false;
  }
  return true;
}

}  // namespace

std::vector<NetworkAddress> own_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(first, &freeifaddrs);
  std::vector<NetworkAddress> addresses;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (const auto address = usable_address(*entry)) addresses.push_back(*address);
  }
  std::ranges::stable_sort(addresses, {}, &NetworkAddress::version);
  return addresses;
}

std::vector<NetworkAddress> order_addresses(std::span<const NetworkAddress> peer,
                                            std::span<const NetworkAddress> own, bool is_one_host) {
  std::vector<NetworkAddress> near;
  std::vector<NetworkAddress> far;
  std::vector<NetworkAddress> doubtful;
  if (is_one_host) near.assign(std::begin(kLoopback), std::end(kLoopback));
  for (const NetworkAddress& address : peer) {
    const auto is_address = [&](const NetworkAddress& mine) {
      return has_same_bytes(mine, address);
    };
    if (!is_one_host && std::ranges::any_of(own, is_address)) {
      doubtful.push_back(address);
      continue;
    }
    const auto shares_subnet = [&](const NetworkAddress& mine) {
      return is_same_subnet(mine, address);
    };
    (std::ranges::any_of(own, shares_subnet) ? near : far).push_back(address);
  }
  near.insert(near.end(), far.begin(), far.end());
  near.insert(near.end(), doubtful.begin(), doubtful.end());
  return near;
}

SocketAddress socket_address(const NetworkAddress& address, std::uint16_t port) {
  SocketAddress result;
  if (address.version == 4) {
    sockaddr_in socket{};
    socket.sin_family = AF_INET;
    socket.sin_port = htons(port);
    std::memcpy(&socket.sin_addr, address.bytes.data(), sizeof socket.sin_addr);
    std::memcpy(&result.storage, &socket, sizeof socket);
    result.len = sizeof socket;
  } else {
    sockaddr_in6 socket{};
    socket.sin6_family = AF_INET6;
    socket.sin6_port = htons(port);
    std::memcpy(&socket.sin6_addr, address.bytes.data(), sizeof socket.sin6_addr);
    std::memcpy(&result.storage, &socket, sizeof socket);
    result.len = sizeof socket;
  }
  return result;
}

std::string to_text(const NetworkAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(address.version == 4 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

}  // namespace headrace::exchange
