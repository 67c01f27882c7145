#include "storage/realigned_reads.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/kept_errno.h"
#include "base/own_buffer.h"
#include "storage/kernel_copy.h"

namespace headrace::storage {
namespace {

/// Bytes of a part: it stays in a core's second-level cache between the two copies.
constexpr ByteCount kPart = ByteCount{128} << 10;

/// Whether misplaced reads are worth a copy on this processor. Measures once in a process, after so
/// many misplaced bytes that the measurement's time does not matter. False while another thread
/// measures, and in a process that was forked during that.
bool is_faster_here(ByteCount bytes) {
  enum class Known { nothing, in_progress, no, yes };
  constexpr ByteCount kEnough = ByteCount{1} << 20;
  static constinit std::atomic<Known> known = Known::nothing;
  static constinit std::atomic<ByteCount> seen = 0;
  const Known now = known.load(std::memory_order_relaxed);
  if (now != Known::nothing) return now == Known::yes;
  if (seen.fetch_add(bytes, std::memory_order_relaxed) + bytes < kEnough) return false;
  Known expected = Known::nothing;
  if (!known.compare_exchange_strong(expected, Known::in_progress)) return expected == Known::yes;
  const Known found = is_worth_a_copy(measure_copies()) ? Known::yes : Known::no;
  known.store(found, std::memory_order_relaxed);
  return found == Known::yes;
}

bool is_in_memory(int descriptor) {
  struct statfs status{};
  return fstatfs(descriptor, &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

}  // namespace

ByteCount RealignedReads::read(int descriptor, FileOffset offset, const iovec& segment) {
  assert(offset >= 0);
  const auto wanted = static_cast<ByteCount>(segment.iov_len);
  if (wanted < kLeast || setting_ == UseSetting::never) return 0;
  if (way_.load(std::memory_order_relaxed) == Way::never) return 0;
  const KeptErrno kept;
  if (setting_ == UseSetting::automatic && !is_faster_here(wanted)) return 0;
  OwnBuffer buffer;
  if (!buffer.has(kPart + kPage)) return 0;
  // Half a page away from the bytes' place in the file, and so from the program's memory.
  std::byte* const place = buffer.data() + (offset + kPage / 2) % kPage;
  auto* const memory = static_cast<std::byte*>(segment.iov_base);
  ByteCount moved = 0;
  while (moved < wanted) {
    const ByteCount size = std::min(kPart, wanted - moved);
    const ssize_t got = read_cached(descriptor, place, size, offset + moved);
    if (got <= 0) break;
    std::memcpy(memory + moved, place, static_cast<std::size_t>(got));
    moved += got;
    if (got < size) break;
  }
  if (moved > 0) has_read_.store(true, std::memory_order_relaxed);
  return moved;
}

/// Like pread, but fails with EAGAIN if the bytes are not in the page cache. Not used on file
/// systems without such reads, except those in memory.
ssize_t RealignedReads::read_cached(int descriptor, std::byte* place, ByteCount size,
                                    FileOffset offset) {
  const iovec segment{place, static_cast<std::size_t>(size)};
  if (way_.load(std::memory_order_relaxed) == Way::cached_only) {
    const ssize_t got = preadv2(descriptor, &segment, 1, offset, RWF_NOWAIT);
    if (got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return got;
    const bool is_memory = is_in_memory(descriptor);
    way_.store(is_memory ? Way::whole : Way::never, std::memory_order_relaxed);
    if (!is_memory) return -1;
  }
  return pread(descriptor, place, segment.iov_len, offset);
}

}  // namespace headrace::storage
