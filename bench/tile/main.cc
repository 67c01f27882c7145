#include "common/array.h"
#include "common/failure.h"
#include "common/kernel.h"
#include "common/timed_benchmark.h"

namespace headrace::bench::tile {
namespace {

/// An array of 1 to 6 dimensions, of which each rank holds a box, in one collective call.
struct Parameters : KernelParameters {
  Parameters() : KernelParameters("tiles") {}
  Array array;
};

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  ArrayOptions options;
  parse_kernel(argc, argv, "headrace bench tile",
               "an n-dimensional array, each rank's subarray in one collective call; --piece 1000 "
               "interleaves the ranks by pieces of 1,000 bytes.",
               option_table(options), p, help);
  if (p.show_help) return p;
  p.array = make_array(options, ranks, "2048,2048", std::int64_t{32} << 20);
  check_size(p.array.local_bytes(), ranks);
  return p;
}

Kernel make_kernel(const Parameters& p, const World& world) {
  Kernel kernel;
  kernel.name = "tile";
  kernel.layout = array_layout(world, p.array);
  kernel.content = std::make_unique<OffsetContent>(p.seed);
  kernel.describe = [&p](JsonWriter& json) { describe(json, p.array); };
  return kernel;
}

void print_job(const Parameters& p, const World& world) {
  print_kernel_head("tile", p, world, p.array.bytes(), p.array.lines());
}

int body(int argc, char** argv) {
  return run_timed_benchmark<KernelProgram<Parameters, make_kernel>>(argc, argv, parse_parameters,
                                                                     print_job);
}

}  // namespace
}  // namespace headrace::bench::tile

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"tile", "--dims or --size"},
                                      headrace::bench::tile::body);
}
