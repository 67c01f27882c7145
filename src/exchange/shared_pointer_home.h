#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "exchange/network_address.h"
#include "exchange/shared_pointer_protocol.h"
#include "exchange/socket.h"

namespace headrace::exchange {

/// Where ranks of other nodes find a team's shared pointers. Plain bytes, for messages.
struct SharedPointerHome {
  static constexpr std::size_t kMostAddresses = 16;

  Secret greeting{};                ///< what the right process says first to whoever connects
  Secret secret{};                  ///< what to say with each question
  std::array<char, 120> network{};  ///< see topo::network_identity; empty where it is not known
  std::array<NetworkAddress, kMostAddresses> addresses{};
  std::int32_t address_count = 0;
  std::int32_t system_error = 0;  ///< why nobody listens; 0: the setting says so
  std::uint16_t port = 0;         ///< 0 where nobody listens

  std::span<const NetworkAddress> known_addresses() const {
    return std::span(addresses).first(static_cast<std::size_t>(address_count));
  }
};

/// The addresses and the network of this process.
void describe_own_network(SharedPointerHome& home);

/// A connection to the home, and greeted by it.
struct Reached {
  Socket socket;
  std::string failure;  ///< without a socket: what was tried and how it failed
};

/// Tries the home's addresses one after the other, beginning with the next one when one has failed
/// or not answered for a moment, and takes the first at which the home greets.
Reached reach(const SharedPointerHome& home);

}  // namespace headrace::exchange
