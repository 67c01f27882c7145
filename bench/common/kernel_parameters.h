#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/extents.h"
#include "common/options.h"

namespace headrace::bench {

/// What the command line of every kernel can ask for.
struct KernelParameters {
  /// mpiio, posix, rank0, or contiguous: as many bytes by each rank in one run, the limit.
  std::string way = "mpiio";
  std::string file;
  std::string hints_file;
  std::string json;
  Size request;       ///< of the way contiguous, bytes; 0: the fastest of several
  Size read_request;  ///< the same of reads, 0: as of writes
  std::int64_t repetitions = 1;
  std::int64_t seed = 1;
  bool write = false;
  bool read = false;
  bool keep = false;
  bool fsync = false;
  bool show_hints = false;
  bool skip_check = false;
  bool show_help = false;

  explicit KernelParameters(std::string default_file) : file(std::move(default_file)) {}
};

/// mpiio, posix, rank0 and contiguous.
std::vector<std::string> every_way();

/// Reads a kernel's command line: its own options, then those of every kernel, which go to
/// `parameters`; --way is one of `ways`. `help` becomes the help text; where it is asked for,
/// nothing more need be right. Throws AgreedFailure with exit code 2.
void parse_kernel(int argc, char** argv, const std::string& program, const std::string& summary,
                  std::vector<Option> own, KernelParameters& parameters, std::string& help,
                  const std::vector<std::string>& ways = every_way());

/// Throws AgreedFailure with exit code 2 unless a rank's `bytes` of one call fit an int, and
/// `calls` of `ranks` such fit a file offset.
void check_size(std::int64_t bytes, int ranks, std::int64_t calls = 1);

/// The same unless a file of so many bytes, the product of `factors`, has offsets.
void check_file_size(const Extents& factors);

}  // namespace headrace::bench
