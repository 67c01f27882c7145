#include "abi/flavour/lone_files_end.h"

#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "abi/flavour/job.h"
#include "abi/flavour/native.h"
#include "abi/flavour/quiet_world.h"
#include "abi/flavour/world_calls.h"
#include "file/lone_files.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

constexpr std::chrono::seconds kPatience{60};

file::LoneReport together(std::span<const std::byte> bytes) {
  file::LoneReport all;
  for (; bytes.size() >= sizeof all; bytes = bytes.subspan(sizeof all)) {
    file::LoneReport one;
    std::memcpy(&one, bytes.data(), sizeof one);
    one.example.back() = '\0';
    if (all.sums.files == 0) all.example = one.example;
    all.sums.combine(one.sums);
  }
  return all;
}

Error tell_of_job(int rank) {
  int size = 0;
  native.Comm_size(MPI_COMM_WORLD, &size);
  const file::LoneReport own = file::lone_report();
  const QuietWorld quiet;
  const auto all =
      gather(std::as_bytes(std::span(&own, 1)),
             std::vector<int>(static_cast<std::size_t>(size), sizeof own), rank == 0, kPatience);
  if (rank != 0) return {};
  if (all) {
    file::print_lone_files(together(all.value()), "");
  } else {
    file::print_lone_files(own, "rank 0 alone, since others did not come in time");
  }
  return {};
}

}  // namespace

void start_lone_files() {
  int size = 0;
  if (!is_initialized() || native.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) return;
  file::set_job_size(size);
}

void end_lone_files(int rank) noexcept {
  if (!file::tells_lone_files()) return;
  const Error failed = attempt([&] { return tell_of_job(rank); });
  static_cast<void>(failed);
}

void print_own_lone_files(int rank) noexcept {
  if (!file::tells_lone_files()) return;
  static_cast<void>(attempt([&]() -> Error {
    file::print_lone_files(file::lone_report(), "rank " + std::to_string(rank));
    return {};
  }));
}

}  // namespace headrace::HEADRACE_FLAVOUR
