#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "exchange/network_address.h"
#include "exchange/shared_pointer_protocol.h"
#include "exchange/socket.h"

namespace headrace::exchange {

/// Where ranks of other nodes find a team's shared pointers. Plain bytes, for messages.
struct SharedPointerHome {
  static constexpr std::size_t kMaxAddresses = 16;

  Secret greeting{};                ///< what the home sends first over each connection
  Secret secret{};                  ///< the key of the codes of questions and answers
  std::array<char, 120> network{};  ///< see topo::network_identity; empty if unknown
  std::array<NetworkAddress, kMaxAddresses> addresses{};
  std::int32_t address_count = 0;
  std::int32_t system_error = 0;  ///< why nobody listens; 0: a setting forbids it
  std::uint16_t port = 0;         ///< 0 if nobody listens

  std::span<const NetworkAddress> known_addresses() const {
    const auto count = static_cast<std::size_t>(std::max(address_count, 0));
    return std::span(addresses).first(std::min(count, addresses.size()));
  }
};

/// Fills in the addresses and the network of this process.
void describe_own_network(SharedPointerHome& home);

/// A connection over which the home has sent its greeting.
struct HomeConnection {
  Socket socket;
  Secret challenge{};   ///< of the connection
  std::string failure;  ///< if there is no socket: what was tried and how it failed
};

/// Tries the home's addresses one after another; goes on to the next when one has failed or has not
/// answered for a moment. Takes the first over which the home's greeting comes.
HomeConnection connect_to_home(const SharedPointerHome& home);

}  // namespace headrace::exchange
