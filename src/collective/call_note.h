#pragma once

#include <cstdint>

#include "collective/call.h"

// What a rank tells those of its node of a call: which operation it is, the call's number, and how
// large its data is. No note is 0.

namespace headrace::collective {

inline constexpr int kBitsOfBytes = 40;
inline constexpr int kBitsOfOperation = 4;
inline constexpr std::uint64_t kBytesOfNote = (std::uint64_t{1} << kBitsOfBytes) - 1;
/// Added to a note later: what came from other nodes is not what the call needs.
inline constexpr std::uint64_t kSpoiltNote = std::uint64_t{1} << 63;

/// Of a call's size: the same where all blocks have the same.
std::uint64_t size_note(const Call& call);

/// `size`: as size_note() has it.
constexpr std::uint64_t call_note(Operation operation, std::uint64_t number, std::uint64_t size) {
  static_assert(kOperations < 1 << kBitsOfOperation);
  const auto own = static_cast<std::uint64_t>(operation) + 1;
  return ((number << kBitsOfOperation | own) << kBitsOfBytes | (size & kBytesOfNote)) &
         ~kSpoiltNote;
}

/// Whether two notes are of one call, of whatever size.
constexpr bool is_same_call(std::uint64_t note, std::uint64_t other) {
  return note >> kBitsOfBytes == other >> kBitsOfBytes;
}

}  // namespace headrace::collective
