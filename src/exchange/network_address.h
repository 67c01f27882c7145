#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::exchange {

/// An address of a network interface. Plain bytes, for messages between ranks.
struct NetworkAddress {
  std::array<std::uint8_t, 16> bytes{};  ///< in network order; IPv4 uses the first four
  std::uint8_t version = 0;              ///< 4 or 6
  std::uint8_t prefix_len = 0;           ///< bits that the addresses of its subnet have in common

  bool operator==(const NetworkAddress&) const = default;
};

/// The addresses of this process's network interfaces that others can use: of interfaces that are
/// up, without loopback and IPv6's link-local ones; IPv4 first. Empty where there are none.
std::vector<NetworkAddress> own_addresses();

/// In which order to try a peer's addresses: loopback where `own` and `peer` belong to one host
/// (`is_one_host`), then those of subnets that both are on, then the others. Last, where they are
/// not known to be one host, addresses that both have: those of bridges for containers lead
/// nowhere, and whoever answers there does not greet.
std::vector<NetworkAddress> order_addresses(std::span<const NetworkAddress> peer,
                                            std::span<const NetworkAddress> own, bool is_one_host);

/// For connect(2).
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t len = 0;
};
SocketAddress socket_address(const NetworkAddress& address, std::uint16_t port);

/// As people write it.
std::string to_text(const NetworkAddress& address);

}  // namespace headrace::exchange
