#include "abi/flavour/world_calls.h"

#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "abi/flavour/backoff.h"
#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using std::chrono::steady_clock;

/// What the library uses until the call is complete.
struct Memory {
  std::vector<std::byte> own;
  std::vector<std::byte> all;
  std::vector<int> sizes;
  std::vector<int> places;
  std::int64_t number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// `code`: of the call that began it.
Error complete(std::unique_ptr<Memory>& memory, int code, Patience patience) {
  if (code != MPI_SUCCESS) {
    static_cast<void>(memory.release());
    return native_failure("reach the other ranks");
  }
  Backoff backoff;
  const auto begin = steady_clock::now();
  for (;;) {
    int is_done = 0;
    code = native.Testall(1, &memory->request, &is_done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && is_done != 0) return {};
    if (code != MPI_SUCCESS || steady_clock::now() - begin >= patience) break;
    backoff.wait();
  }
  static_cast<void>(memory.release());
  if (code != MPI_SUCCESS) return native_failure("reach the other ranks");
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin);
  return {
      ErrorClass::other,
      0,
      {"not all ranks came to MPI_Finalize with Headrace and completed their part there within ",
       std::to_string(waited.count()), " s"}};
}

}  // namespace

Result<std::vector<std::byte>> all_gather(std::span<const std::byte> own, int ranks,
                                          Patience patience) {
  auto memory = std::make_unique<Memory>();
  memory->own.assign(own.begin(), own.end());
  memory->all.resize(own.size() * static_cast<std::size_t>(ranks));
  const int size = static_cast<int>(own.size());
  const int code = native.Iallgather(memory->own.data(), size, MPI_BYTE, memory->all.data(), size,
                                     MPI_BYTE, MPI_COMM_WORLD, &memory->request);
  if (Error failed = complete(memory, code, patience)) return failed;
  return std::move(memory->all);
}

Result<std::vector<std::byte>> gather(std::span<const std::byte> own, std::vector<int> sizes,
                                      bool is_root, Patience patience) {
  auto memory = std::make_unique<Memory>();
  memory->own.assign(own.begin(), own.end());
  if (is_root) {
    memory->sizes = std::move(sizes);
    memory->places.resize(memory->sizes.size());
    std::exclusive_scan(memory->sizes.begin(), memory->sizes.end(), memory->places.begin(), 0);
    memory->all.resize(static_cast<std::size_t>(memory->places.back() + memory->sizes.back()));
  }
  const int code = native.Igatherv(memory->own.data(), static_cast<int>(own.size()), MPI_BYTE,
                                   memory->all.data(), memory->sizes.data(), memory->places.data(),
                                   MPI_BYTE, 0, MPI_COMM_WORLD, &memory->request);
  if (Error failed = complete(memory, code, patience)) return failed;
  return std::move(memory->all);
}

Result<std::int64_t> broadcast(std::int64_t number, Patience patience) {
  auto memory = std::make_unique<Memory>();
  memory->number = number;
  const int code =
      native.Ibcast(&memory->number, sizeof number, MPI_BYTE, 0, MPI_COMM_WORLD, &memory->request);
  if (Error failed = complete(memory, code, patience)) return failed;
  return memory->number;
}

}  // namespace headrace::HEADRACE_FLAVOUR
