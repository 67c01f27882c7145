#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "abi/flavour/native.h"
#include "base/mixed_hash.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

/// Sizes of predefined datatypes, whose handles never mean another one.
struct KnownSize {
  std::atomic<std::uintptr_t> key;  ///< the handle; 0: none. Written last, and once.
  std::int64_t size;
};
extern constinit std::array<KnownSize, 64> known_sizes;

/// Asks MPI, and keeps it if that is right for ever.
std::int64_t find_size(MPI_Datatype datatype, KnownSize& place) noexcept;

/// Bytes of data; 0 if it is not known. To be asked of a datatype that a call has taken.
inline std::int64_t size_of(MPI_Datatype datatype) noexcept {
  const std::uintptr_t key = handle_key(datatype);
  KnownSize& place = known_sizes[golden_hash(key) >> 58];
  if (place.key.load(std::memory_order_acquire) == key) [[likely]]
    return place.size;
  return find_size(datatype, place);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
