#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/hints.h"
#include "common/world.h"
#include "ior/backend.h"
#include "ior/layout.h"
#include "ior/parameters.h"
#include "ior/signature.h"

namespace headrace::bench::ior {

/// One timed write or read by all tasks.
struct Access {
  bool writing = false;
  std::int64_t repetition = 0;
  std::int64_t bytes = 0;
  std::int64_t transfers = 0;  ///< by all tasks
  Durations seconds;
  Hints opened_hints;   ///< of the file just opened
  Hints closing_hints;  ///< of the file just before it was closed

  double bandwidth() const { return static_cast<double>(bytes) / seconds.total; }
  double operations() const { return static_cast<double>(transfers) / seconds.transfer; }
};

/// What a run found.
struct Results {
  std::vector<Access> accesses;
  std::int64_t wrong_bytes = 0;
  std::vector<std::string> warnings;
};

/// Runs all repetitions of one command line. All calls are collective over the world's ranks.
class Test {
 public:
  /// `report` is called on rank 0 after each timed access. Throws AgreedFailure.
  Test(const Parameters& parameters, const World& world, Hints hints,
       std::function<void(const Access&)> report);

  /// Throws Failure; files that are not to be kept are gone in either case.
  Results run();

 private:
  void repetition(std::int64_t number);
  void write(std::int64_t number);
  void read(std::int64_t number);
  void check(std::int64_t number, Pass pass);
  std::string move(Backend& backend, bool writing, int task, std::int64_t number, Stamps& stamps,
                   Access& access);
  std::string check_transfers(Backend& backend, int task, std::int64_t& wrong,
                              std::string& first_wrong);
  void finish(Access access, const Stamps& stamps, const std::string& error);
  void check_space(std::int64_t number);
  void check_file_size(std::int64_t number);
  void remove_files(std::int64_t number);
  void wait_between_tests();
  std::unique_ptr<Backend> make_backend() const;

  const Parameters& parameters_;
  const World& world_;
  Layout layout_;
  Hints hints_;
  std::function<void(const Access&)> report_;
  Results results_;
  std::uint32_t stamp_ = 0;
  Buffer buffer_;  ///< begins a page, as IOR's
};

}  // namespace headrace::bench::ior
