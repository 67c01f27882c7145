#pragma once

#include <cstdint>
#include <string>

#include "common/options.h"

namespace headrace::bench::overlap {

/// What the command line asks for.
struct Parameters {
  Size size{std::int64_t{64} << 20};  ///< of a rank's data
  Size block{0};                      ///< ranks take turns in the file by blocks; 0: one block each
  std::string call = "individual";    ///< individual, collective or split
  bool write = false;
  bool read = false;
  double share = 1;         ///< of the transfer's time that is computed
  double compute = 0;       ///< seconds in place of it, if greater than 0
  double read_compute = 0;  ///< the same beside reads
  double delay = 0;         ///< milliseconds that each MiB sleeps more
  std::int64_t repetitions = 11;
  std::string file = "overlapped";
  std::string hints_file;
  std::string json;
  bool keep = false;
  bool show_hints = false;
  bool show_help = false;

  bool is_collective() const { return call != "individual"; }
  std::int64_t block_size() const { return block.bytes > 0 ? block.bytes : size.bytes; }
};

/// Reads the command line; `help` becomes the help text. Throws AgreedFailure.
Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help);

}  // namespace headrace::bench::overlap
