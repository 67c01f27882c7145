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
  std::uint8_t prefix_len = 0;           ///< bits of the subnet's prefix

  bool operator==(const NetworkAddress&) const = default;
};

/// The addresses under which other nodes can reach this process: those of network interfaces that
/// are up, without loopback and IPv6's link-local addresses; IPv4 first. May be empty.
std::vector<NetworkAddress> own_addresses();

/// The order in which to try a peer's addresses: loopback if both processes are on one host
/// (`is_one_host`), then addresses in a subnet that both are on, then the others. If the two are
/// not known to be on one host, addresses that both have come last: they belong to bridges for
/// containers and do not lead to the peer, and what answers there does not send the greeting.
std::vector<NetworkAddress> order_addresses(std::span<const NetworkAddress> peer,
                                            std::span<const NetworkAddress> own, bool is_one_host);

/// For connect(2).
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t len = 0;
};
SocketAddress socket_address(const NetworkAddress& address, std::uint16_t port);

/// The usual notation, for messages.
std::string to_text(const NetworkAddress& address);

}  // namespace headrace::exchange
