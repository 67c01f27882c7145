#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

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
    const std::uint64_t kind = mix(communicator + static_cast<std::uint32_t>(tag));
    const std::uint64_t name =
        mix(kind + 2 * static_cast<std::uint64_t>(peer) + static_cast<std::uint64_t>(way)) | 1;
    if (places_ == nullptr) return 0;
    for (std::uint64_t i = 0; i < kMostSteps; ++i) {
      Place& place = places_[(name + i) % kPlaces];
      if (place.name == 0) place.name = name;
      if (place.name == name) return mix(kind + 0x9e3779b97f4a7c15u * ++place.count) | 1;
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

  /// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014 (the mixer).
  static std::uint64_t mix(std::uint64_t bits) noexcept {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
  }

  static constexpr std::uint64_t kPlaces = 8192;
  static constexpr std::uint64_t kMostSteps = 64;
  std::unique_ptr<Place[], Free> places_;
};

}  // namespace headrace::record
