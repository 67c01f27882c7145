#pragma once

#include <cstdint>
#include <string>

#include "common/kernel_parameters.h"

namespace headrace::bench::strided {

/// A file of `size` bytes already holds the data of others. In one collective call the ranks write
/// a block at every multiple of `stride`, taking turns: rank r of n those at (i*n + r)*stride.
/// Whatever lies between must stay.
struct Parameters : KernelParameters {
  Parameters() : KernelParameters("filled") {}
  Size size{std::int64_t{128} << 20};
  Size block{512};
  Size stride{4096};

  /// Blocks that each of `ranks` writes.
  std::int64_t blocks(int ranks) const { return size.bytes / (stride.bytes * ranks); }
};

/// Reads and checks the command line. Throws AgreedFailure with exit code 2.
Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help);

}  // namespace headrace::bench::strided
