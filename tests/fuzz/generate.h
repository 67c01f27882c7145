#pragma once

#include <cstdint>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// What a backend can do.
struct Features {
  bool nonblocking = true;
  bool split = true;
  bool shared = true;
  bool atomic = true;
  bool sequential = true;
  bool large_files = true;  ///< sparse ones of several gigabytes
  bool groups = true;       ///< communicators other than of all ranks
  bool errors = true;       ///< calls with wrong arguments
  int ranks = 0;            ///< so many; 0: any number
};

/// The random program of a seed. Its outcome is defined (see rules.h).
Program generate(std::uint64_t seed, const Features& features);

}  // namespace headrace::fuzz
