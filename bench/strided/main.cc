#include <cstdio>

#include "common/buffer.h"
#include "common/failure.h"
#include "common/kernel.h"
#include "common/options.h"
#include "common/timed_benchmark.h"
#include "strided/parameters.h"

namespace headrace::bench::strided {
namespace {

/// Runs of each rank that no call moves.
Layout plain_layout(const World& world, const Strip& strip) {
  Layout layout;
  layout.file = {strip};
  complete(world, layout);
  return layout;
}

Kernel make_kernel(const Parameters& p, const World& world) {
  Kernel kernel;
  kernel.name = "strided";
  kernel.layout = block_layout(world, p.stride.bytes * world.rank, p.block.bytes,
                               p.stride.bytes * world.size, p.blocks(world.size));
  kernel.content = std::make_unique<OffsetContent>(p.seed);
  kernel.whole_file = p.size.bytes;
  return kernel;
}

/// Fills the file beforehand, and looks afterwards at what lies between the blocks.
class Bench : public KernelBench {
 public:
  Bench(const Parameters& p, const World& world, Hints hints)
      : KernelBench(p, world, std::move(hints), make_kernel(p, world)),
        shares_(plain_layout(
            world, {p.size.bytes / world.size * world.rank, p.size.bytes / world.size, 0, 1})),
        gaps_(plain_layout(
            world, {p.stride.bytes * world.rank + p.block.bytes, p.stride.bytes - p.block.bytes,
                    p.stride.bytes * world.size, p.blocks(world.size)})),
        others_(p.seed + 1) {
    kernel().describe = [&p, this](JsonWriter& json) {
      json.member("block", p.block.bytes);
      json.member("stride", p.stride.bytes);
      json.member("size", p.size.bytes);
      json.member("overwrittenBytes", overwritten_.wrong);
      json.member("firstOverwritten",
                  overwritten_.wrong > 0 ? overwritten_.first : std::int64_t{-1});
    };
  }

  void report() const {
    KernelBench::report();
    std::printf("Overwritten bytes   : %lld (of others, between the blocks)\n",
                static_cast<long long>(overwritten_.wrong));
  }

  bool is_right() const { return KernelBench::is_right() && overwritten_.wrong == 0; }

 private:
  void make_file() override {
    const Buffer data =
        make_buffer(world().communicator, shares_.memory_size, Buffer::Place::malloc);
    fill(shares_, 0, others_, data.bytes().data());
    move(shares_, true, data);
  }

  void inspect() override {
    const Buffer data = make_buffer(world().communicator, gaps_.memory_size, Buffer::Place::malloc);
    poison(data.bytes());
    move(gaps_, false, data);
    overwritten_.add(sum(world(), check(gaps_, 0, others_, data.bytes())));
  }

  void move(const Layout& layout, bool writing, const Buffer& data) {
    const std::unique_ptr<Way> way = make_posix_way(layout);
    std::string error = way->open(parameters().file, writing);
    if (error.empty()) error = way->move(writing, 0, data.bytes().data());
    const std::string closed = way->close();
    agree(world().communicator, error.empty() ? closed : error);
  }

  Layout shares_;  ///< the whole file
  Layout gaps_;    ///< what follows this rank's blocks
  OffsetContent others_;
  Mismatch overwritten_;  ///< of all ranks and repetitions
};

void print_job(const Parameters& p, const World& world) {
  print_kernel_head("strided", p, world, p.size.bytes,
                    {{"blocks", format_size(p.block.bytes) + ", stride " +
                                    format_size(p.stride.bytes) + ", into others' data"}});
}

int body(int argc, char** argv) {
  return run_timed_benchmark<Bench>(argc, argv, parse_parameters, print_job);
}

}  // namespace
}  // namespace headrace::bench::strided

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"strided", "--size"},
                                      headrace::bench::strided::body);
}
