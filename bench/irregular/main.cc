#include "common/failure.h"
#include "common/kernel.h"
#include "common/timed_benchmark.h"
#include "irregular/pieces.h"

namespace headrace::bench::irregular {
namespace {

/// Random disjoint pieces of a file, in one collective call.
struct Parameters : KernelParameters {
  Parameters() : KernelParameters("pieces") {}
  Shape shape;
};

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  Size mean{p.shape.mean};
  Size gap{p.shape.gap};
  std::string memory = "contiguous";
  parse_kernel(
      argc, argv, "headrace bench irregular",
      "random disjoint pieces of a file in one collective call, made from the seed -G.",
      {
          {0, "pieces", &p.shape.pieces, "pieces of each rank", 1},
          {0, "mean", &mean, "mean bytes of a piece", 1},
          {0, "spread", &p.shape.spread, "lengths are within mean * (1 +- spread), 0 to 1"},
          {0, "gap", &gap, "mean bytes between pieces; 0: they cover the file"},
          {0, "memory", &memory, "contiguous, or permuted: pieces in random order"},
      },
      p, help);
  if (p.show_help) return p;
  p.shape.mean = mean.bytes;
  p.shape.gap = gap.bytes;
  p.shape.seed = p.seed;
  p.shape.permuted = memory == "permuted";
  if (memory != "contiguous" && memory != "permuted") {
    throw AgreedFailure("unknown memory '" + memory + "', give contiguous or permuted", 2);
  }
  if (!(p.shape.spread >= 0 && p.shape.spread <= 1)) {
    throw AgreedFailure("--spread must be from 0 to 1 (lengths cannot be negative), change it", 2);
  }
  if (p.shape.pieces > INT32_MAX || p.shape.mean > INT32_MAX || p.shape.gap > INT32_MAX) {
    throw AgreedFailure("--pieces, --mean and --gap must be below 2^31, lower them", 2);
  }
  // MPI's displacements allow more; a test of this machine does not need it.
  check_size(p.shape.pieces * p.shape.longest(), ranks);
  check_file_size({p.shape.pieces, ranks, p.shape.longest() + 2 * p.shape.gap});
  return p;
}

Kernel make_kernel(const Parameters& p, const World& world) {
  Kernel kernel;
  kernel.name = "irregular";
  kernel.layout = random_layout(world, p.shape);
  kernel.content = std::make_unique<OffsetContent>(p.seed);
  kernel.describe = [&p](JsonWriter& json) {
    json.member("pieces", p.shape.pieces);
    json.member("mean", p.shape.mean);
    json.member("spread", p.shape.spread);
    json.member("gap", p.shape.gap);
    json.member("memory", p.shape.permuted ? "permuted" : "contiguous");
    json.member("seed", p.seed);
  };
  return kernel;
}

void print_job(const Parameters& p, const World& world) {
  const Shape& shape = p.shape;
  const std::string gaps =
      shape.gap > 0 ? ", gaps of " + format_size(shape.gap) + " between them" : "";
  print_kernel_head(
      "irregular", p, world, shape.pieces * world.size * (shape.mean + shape.gap),
      {{"pieces", std::to_string(shape.pieces) + " a rank, " + std::to_string(shape.shortest()) +
                      " to " + std::to_string(shape.longest()) + " bytes" + gaps},
       {"memory", shape.permuted ? "pieces in random order" : "contiguous"}});
}

int body(int argc, char** argv) {
  return run_timed_benchmark<KernelProgram<Parameters, make_kernel>>(argc, argv, parse_parameters,
                                                                     print_job);
}

}  // namespace
}  // namespace headrace::bench::irregular

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"irregular", "--pieces or --mean"},
                                      headrace::bench::irregular::body);
}
