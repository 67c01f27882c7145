#pragma once

#include <cstdint>
#include <vector>

#include "steps/step.h"

namespace headrace::steps {

/// The memory of one access: where its data lies, and what it holds before the call.
struct Memory {
  std::vector<std::uint8_t> bytes;
  std::int64_t origin = 0;  ///< index of the address that is given to the call
  Numbers places;           ///< index of each data byte, in data order
};
Memory make_memory(std::uint64_t seed, const Step& step, int rank);

/// The bytes that an access asks for; 0 where its count is negative.
std::int64_t wanted_bytes(const Part& part);

}  // namespace headrace::steps
