#include "steps/memory.h"

#include <algorithm>

#include "sim/random.h"

namespace headrace::steps {
namespace {

constexpr std::int64_t kGuard = 16;

}  // namespace

Memory make_memory(std::uint64_t seed, const Step& step, int rank) {
  const Part& part = step.parts[static_cast<std::size_t>(rank)];
  const Repetitions type(expand(part.memory));
  Memory memory;
  const std::int64_t bytes = std::max<std::int64_t>(0, part.count) * type.size();
  memory.places.reserve(static_cast<std::size_t>(bytes));
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::int64_t i = 0; i < bytes; ++i) {
    const std::int64_t offset = type.offset_of(i);
    low = std::min(low, offset);
    high = std::max(high, offset + 1);
    memory.places.push_back(offset);
  }
  memory.origin = kGuard - low;
  for (std::int64_t& place : memory.places) place += memory.origin;
  memory.bytes.resize(static_cast<std::size_t>(high - low + 2 * kGuard));
  seed += 1'000'003 * static_cast<std::uint64_t>(step.id) +
          7919 * static_cast<std::uint64_t>(rank) + part.salt;
  for (std::size_t i = 0; i < memory.bytes.size(); ++i) {
    memory.bytes[i] = sim::random_byte(seed, static_cast<std::int64_t>(i));
  }
  return memory;
}

std::int64_t wanted_bytes(const Part& part) {
  return std::max<std::int64_t>(0, part.count) * expand(part.memory).size();
}

}  // namespace headrace::steps
