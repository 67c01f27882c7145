#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/content.h"
#include "common/hints.h"
#include "common/json.h"
#include "common/kernel_parameters.h"
#include "common/layout.h"
#include "common/test_file.h"
#include "common/timed_results.h"
#include "common/ways.h"
#include "common/world.h"

namespace headrace::bench {

/// A benchmark kernel: what is moved. Everything else (how often, by which way, timing, checking,
/// output) is KernelBench's.
struct Kernel {
  std::string name;  ///< of the program
  Layout layout;     ///< of this rank, for one call
  std::unique_ptr<Content> content;
  /// Collective calls one after the other; call k begins at byte k * layout.file_size.
  std::int64_t calls = 1;
  std::int64_t buffers = 1;  ///< call k uses buffer k mod `buffers`
  Views views = Views::each_call;
  std::function<void(JsonWriter&)> describe;  ///< writes the members of its own

  std::int64_t whole_file = 0;  ///< bytes, where the file is larger than what is moved

  std::int64_t file_size() const { return std::max(calls * layout.file_size, whole_file); }
};

/// Writes and reads a kernel's file and checks every byte: after a write, the file by plain reads;
/// after a read, the buffers.
class KernelBench {
 public:
  KernelBench(const KernelParameters& parameters, const World& world, Hints hints, Kernel kernel);
  virtual ~KernelBench() = default;

  void run();
  void report() const;
  std::string json() const;
  bool is_right() const { return wrong_bytes_ == 0; }

 protected:
  const KernelParameters& parameters() const { return parameters_; }
  const World& world() const { return world_; }
  Kernel& kernel() { return kernel_; }

  /// Makes what the file holds before it is written; there is none yet. Collective.
  virtual void make_file() {}
  /// Checks of a file that was written what the layout does not hold. Collective.
  virtual void inspect() {}

 private:
  struct Interval {
    double begin = 0;
    double end = 0;
  };

  void timed(bool writing, std::int64_t repetition);
  TimedAccess access(bool writing, std::int64_t repetition, std::int64_t request);
  std::string move_all(Way& way, bool writing, std::vector<Interval>& calls);
  void prepare(bool writing, std::int64_t call);
  void settle(bool writing, std::int64_t call);
  void add_durations(TimedAccess& result, const Stamps& stamps,
                     const std::vector<Interval>& calls) const;
  void check_file();
  void tell_wrong(const char* action);
  void allocate();
  void remove_file() { remove_test_file(world_.communicator, parameters_.file, world_.rank == 0); }
  std::unique_ptr<Way> make_way(std::int64_t request) const;
  std::vector<std::int64_t> requests(bool writing) const;
  std::int64_t displacement(std::int64_t call) const { return call * kernel_.layout.file_size; }
  std::span<std::byte> buffer(std::int64_t call) {
    return buffers_[static_cast<std::size_t>(call % kernel_.buffers)].bytes();
  }

  const KernelParameters& parameters_;
  const World& world_;
  Hints hints_;
  Kernel kernel_;
  std::vector<Buffer> buffers_;  ///< the limit's begin a page
  std::vector<TimedAccess> accesses_;
  Mismatch mismatch_;  ///< of the access that is being checked, on this rank
  std::int64_t wrong_bytes_ = 0;
};

/// The bench of a kernel's program, as run_timed_benchmark() makes it.
template <class Parameters, Kernel (*make_kernel)(const Parameters&, const World&)>
class KernelProgram : public KernelBench {
 public:
  KernelProgram(const Parameters& parameters, const World& world, Hints hints)
      : KernelBench(parameters, world, std::move(hints), make_kernel(parameters, world)) {}
};

/// Prints what is about to be done, with the kernel's own `lines`, and the table's head.
void print_kernel_head(const std::string& name, const KernelParameters& parameters,
                       const World& world, std::int64_t file_size,
                       std::vector<std::pair<std::string, std::string>> lines);

}  // namespace headrace::bench
