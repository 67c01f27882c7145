#pragma once

#include <string>

#include "common/kernel_parameters.h"
#include "lattice/geometry.h"

namespace headrace::bench::lattice {

/// What the command line asks for.
struct Parameters : KernelParameters {
  Parameters() : KernelParameters("field") {}
  Extents lattice{32, 16, 16, 16};
  Extents grid;  ///< empty: chosen
  Order order = Order::lexicographic;
};

/// Reads and checks the command line for `size` ranks. Throws AgreedFailure with exit code 2.
Parameters parse_parameters(int argc, char** argv, int size, std::string& help);

}  // namespace headrace::bench::lattice
