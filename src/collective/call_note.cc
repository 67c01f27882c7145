#include "collective/call_note.h"

namespace headrace::collective {

std::uint64_t size_note(const Call& call) {
  if (call.blocks.are_alike()) return call.bytes;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  constexpr int kLowBits = 24;  // in which few numbers are mixed
  std::uint64_t print = call.bytes;
  for (const std::size_t size : call.blocks.sizes) print = (print ^ size) * kPrime;
  return print >> kLowBits;
}

}  // namespace headrace::collective
