#include "storage/kernel_copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>

#include "base/file_size_guard.h"
#include "base/rounding.h"

namespace headrace::storage {
namespace {

constexpr std::size_t kProbe = 16 << 10;
constexpr std::size_t kHalfPage = kPage / 2;
/// Large blocks of malloc begin so many bytes into a page.
constexpr std::size_t kMisplaced = 16;

/// Not on the stack, which may be small.
struct alignas(kPage) Memory {
  std::array<std::byte, kProbe + kPage> kept;
  std::array<std::byte, kProbe + kPage> program;
};

template <class Work>
bool take_time(std::int64_t& least, Work work) {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  const bool done = work();
  const std::chrono::nanoseconds taken = steady_clock::now() - begin;
  least = std::min<std::int64_t>(least, taken.count());
  return done;
}

/// Takes the least of several times, since a rank may lose its core meanwhile.
bool measure(int file, Memory& memory, CopyTimes& times) {
  constexpr int kTries = 4;
  const auto read_to = [file](std::byte* place) {
    return pread(file, place, kProbe, 0) == static_cast<ssize_t>(kProbe);
  };
  std::byte* const kept = memory.kept.data() + kHalfPage;
  std::byte* const program = memory.program.data() + kMisplaced;
  if (!read_to(kept) || !read_to(program)) return false;  // touches the pages first
  constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();
  times = {kLong, kLong, kLong};
  for (int i = 0; i < kTries; ++i) {
    const bool done = take_time(times.well_placed, [&] { return read_to(kept); }) &&
                      take_time(times.again,
                                [&] {
                                  std::memcpy(program, kept, kProbe);
                                  return true;
                                }) &&
                      take_time(times.misplaced, [&] { return read_to(program); });
    if (!done) return false;
  }
  return true;
}

}  // namespace

CopyTimes measure_copies() {
  static constinit Memory memory{};
  const int file = memfd_create("headrace", MFD_CLOEXEC);
  if (file < 0) return {};
  CopyTimes times;
  const FileSizeGuard guard;
  const bool is_filled =
      pwrite(file, memory.kept.data(), kProbe, 0) == static_cast<ssize_t>(kProbe);
  if (!is_filled || !measure(file, memory, times)) times = {};
  ::close(file);
  return times;
}

}  // namespace headrace::storage
