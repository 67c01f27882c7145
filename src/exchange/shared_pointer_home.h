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

  Secret greeting{};                ///< what the right process says first to whoever connects
  Secret secret{};                  ///< for the codes of questions and answers
  std::array<char, 120> network{};  ///< see topo::network_identity; empty where it is not known
  std::array<NetworkAddress, kMaxAddresses> addresses{};
  std::int32_t address_count = 0;
  std::int32_t system_error = 0;  ///< why nobody listens; 0: the setting says so
  std::uint16_t port = 0;         ///< 0 where nobody listens

  std::span<const NetworkAddress> known_addresses() const {
    const auto count = static_cast<std::size_t>(std::max(address_count, 0));
    return std::span(addresses).first(std::min(count, addresses.size()));
  }
};

/// The addresses and the network of this process.
void describe_own_network(SharedPointerHome& home);

/// A connection to the home, and greeted by it.
struct HomeConnection {
  Socket socket;
  Secret challenge{};   ///< of the connection
  std::string failure;  ///< without a socket: what was tried and how it failed
};

/// Tries the home's addresses one after the other, beginning with the next one when one has failed
/// or not answered for a moment, and takes the first at which the home greets.
HomeConnection connect_to_home(const SharedPointerHome& home);

}  // namespace headrace::exchange
