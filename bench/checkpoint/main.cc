#include "common/array.h"
#include "common/failure.h"
#include "common/kernel.h"
#include "common/timed_benchmark.h"

namespace headrace::bench::checkpoint {
namespace {

/// A time-step loop: in each step each of several variables of one shape is written after what is
/// there already, by a collective call of its own.
struct Parameters : KernelParameters {
  Parameters() : KernelParameters("steps") {}
  Array array;
  std::int64_t steps = 10;
  std::int64_t variables = 4;
  bool one_view = false;

  std::int64_t calls() const { return steps * variables; }
};

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  ArrayOptions array;
  std::vector<Option> options = option_table(array);
  options.push_back({0, "steps", &p.steps, "time steps", 1});
  options.push_back({0, "variables", &p.variables, "variables, a call each in every step", 1});
  options.push_back({0, "oneView", &p.one_view,
                     "one view, the file pointer goes on (else a view at each displacement)"});
  parse_kernel(argc, argv, "headrace bench checkpoint",
               "a time-step loop of several variables of one shape; tells what the first call and "
               "the later ones take.",
               std::move(options), p, help);
  if (p.show_help) return p;
  p.array = make_array(array, ranks, "512,512", std::int64_t{1} << 20);
  if (p.steps > INT32_MAX / p.variables) {
    throw AgreedFailure("--steps times --variables is beyond 2^31 calls, lower one of them", 2);
  }
  check_size(p.array.local_bytes(), ranks, p.calls());
  return p;
}

Kernel make_kernel(const Parameters& p, const World& world) {
  Kernel kernel;
  kernel.name = "checkpoint";
  kernel.layout = array_layout(world, p.array);
  kernel.content = std::make_unique<OffsetContent>(p.seed);
  kernel.calls = p.calls();
  kernel.buffers = p.variables;
  kernel.views = p.one_view ? Views::once : Views::each_call;
  kernel.describe = [&p](JsonWriter& json) {
    json.member("steps", p.steps);
    json.member("variables", p.variables);
    json.member("oneView", p.one_view);
    describe(json, p.array);
  };
  return kernel;
}

void print_job(const Parameters& p, const World& world) {
  std::vector<std::pair<std::string, std::string>> lines = p.array.lines();
  lines.emplace_back("loop", std::to_string(p.steps) + " steps of " + std::to_string(p.variables) +
                                 " variables, " +
                                 (p.one_view ? "one view" : "a view for each call"));
  print_kernel_head("checkpoint", p, world, p.array.bytes() * p.calls(), std::move(lines));
}

int body(int argc, char** argv) {
  return run_timed_benchmark<KernelProgram<Parameters, make_kernel>>(argc, argv, parse_parameters,
                                                                     print_job);
}

}  // namespace
}  // namespace headrace::bench::checkpoint

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"checkpoint", "--steps, --dims or --size"},
                                      headrace::bench::checkpoint::body);
}
