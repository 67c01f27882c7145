#pragma once

#include <cstdint>
#include <string>

#include "lattice/geometry.h"

namespace headrace::bench::lattice {

/// What the command line asks for.
struct Parameters {
  Vector4 lattice{32, 16, 16, 16};
  Vector4 grid{0, 0, 0, 0};  ///< zeros: chosen
  Order order = Order::lexicographic;
  std::string way = "mpiio";  ///< mpiio, rank0 or posix
  std::string file = "field";
  std::string hints_file;
  std::string json;
  std::int64_t repetitions = 1;
  std::int64_t seed = 1;
  bool write = false;
  bool read = false;
  bool keep = false;
  bool fsync = false;
  bool show_hints = false;
  bool skip_check = false;
  bool show_help = false;
};

/// Reads and checks the command line for `size` ranks. Throws AgreedFailure with exit code 2.
Parameters parse_parameters(int argc, char** argv, int size, std::string& help);

}  // namespace headrace::bench::lattice
