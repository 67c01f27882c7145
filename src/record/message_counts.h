#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/mixed_hash.h"

namespace headrace::record {

/// How many messages went one way between this rank and another one with a communicator and a tag:
/// so both ranks give the same message the same key. Messages with the same of these are received
/// in the order in which they are sent (MPI 4.1, section 3.5).
class MessageCounts {
 public:
  enum class Way : std::uint64_t { sent, received };

  MessageCounts() : places_(static_cast<Place*>(std::calloc(kPlaces, sizeof(Place)))) {}

  /// The key of the next message; 0 without room. `peer`: in MPI_COMM_WORLD.
  std::uint64_t next(Way way, std::int32_t peer, std::uint64_t communicator, int tag) noexcept {
    const std::uint64_t kind = mixed_hash(communicator + static_cast<std::uint32_t>(tag));
    const std::uint64_t name =
        mixed_hash(kind + 2 * static_cast<std::uint64_t>(peer) + static_cast<std::uint64_t>(way)) |
        1;
    if (places_ == nullptr) return 0;
    for (std::uint64_t i = 0; i < kMostSteps; ++i) {
      Place& place = places_[(name + i) % kPlaces];
      if (place.name == 0) place.name = name;
      if (place.name == name) return mixed_hash(kind + golden_hash(++place.count)) | 1;
    }
    return 0;
  }

 private:
  struct Place {
    std::uint64_t name;  ///< 0: it is free
    std::uint64_t count;
  };
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  static constexpr std::uint64_t kPlaces = 8192;
  static constexpr std::uint64_t kMostSteps = 64;
  std::unique_ptr<Place[], Free> places_;
};

}  // namespace headrace::record
