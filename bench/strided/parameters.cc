#include "strided/parameters.h"

#include "common/failure.h"

namespace headrace::bench::strided {

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  parse_kernel(
      argc, argv, "headrace bench strided",
      "a collective strided write into a file that holds others' data; counts what of it was "
      "overwritten.",
      {
          {'b', "block", &p.block, "bytes of a block", 1},
          {0, "stride", &p.stride, "bytes from a block to the next, which is another rank's", 1},
          {0, "size", &p.size, "bytes of the file, filled beforehand", 1},
      },
      p, help, {"mpiio", "posix"});
  if (p.show_help) return p;
  if (p.block.bytes > p.stride.bytes) {
    throw AgreedFailure("the blocks overlap (-b is larger than --stride), change one of them", 2);
  }
  if (p.stride.bytes > p.size.bytes / ranks || p.size.bytes % (p.stride.bytes * ranks) != 0) {
    throw AgreedFailure("--size is not a multiple of --stride times the " + std::to_string(ranks) +
                            " ranks, change it",
                        2);
  }
  check_size(p.blocks(ranks) * p.block.bytes, ranks);
  return p;
}

}  // namespace headrace::bench::strided
