#include "posix/counting.h"

#include <stdio_ext.h>

#include <atomic>

#include "base/kept_errno.h"
#include "posix/descriptor_buffers.h"
#include "record/heat_map.h"
#include "record/record_switch.h"

namespace headrace::posix {

namespace {

using record::AccessCounts;
using record::AccessLayer;

void add(std::int64_t& count, std::int64_t more) noexcept {
  std::atomic_ref(count).fetch_add(more, std::memory_order_relaxed);
}

/// While the program has recording off, calls are followed, but not counted.
bool is_off() noexcept {
  return record::is_switched_off.load(std::memory_order_relaxed);
}

void raise_to(std::int64_t& greatest, std::int64_t value) noexcept {
  const std::atomic_ref place(greatest);
  std::int64_t now = place.load(std::memory_order_relaxed);
  while (now < value && !place.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

void add_access(record::DirectionCounts& counts, std::int64_t bytes, std::int64_t ticks) noexcept {
  add(counts.bins[static_cast<std::size_t>(record::access_bin_of(bytes))], 1);
  add(counts.bytes, bytes);
  if (ticks != 0) add(counts.ticks, ticks);
}

void keep_event(const record::FileTimeline::Call& event, const AccessCounts& counts) noexcept {
  record::FileTimeline* const kept = record::file_timeline.load(std::memory_order_acquire);
  if (kept != nullptr) [[unlikely]]
    kept->add(event, counts);
}

constexpr record::FileOperation operation_of(Direction direction) {
  return direction == Direction::read ? record::FileOperation::read : record::FileOperation::write;
}

/// Notes a short call that stayed within the stream's buffer. False if more is to be done.
bool add_pending(int descriptor, Direction direction, std::int64_t bytes) noexcept {
  constexpr std::int64_t kMostBytes = 100;  // the first bin
  constexpr std::uint64_t kMostCalls = 64;
  Opening* const opening = bytes <= kMostBytes ? known_opening(descriptor) : nullptr;
  if (opening == nullptr ||
      opening->items[static_cast<int>(AccessLayer::stdio)].load(std::memory_order_relaxed) ==
          nullptr ||
      is_off()) {
    return false;
  }
  if (!opening->is_moved.load(std::memory_order_relaxed)) opening->is_moved.store(true);
  const std::uint64_t before = opening->pending[direction == Direction::write ? 1 : 0].fetch_add(
      kPendingCall + static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
  if (before / kPendingCall >= kMostCalls) opening->fold();
  return true;
}

/// Between two times, in ticks; a call whose time is not taken is short, and moves them now.
void add_own_heat(Direction direction, std::int64_t bytes, std::int64_t begin = 0,
                  std::int64_t end = 0) noexcept {
  record::add_heat(record::HeatLayer::own, direction == Direction::write, bytes, begin,
                   end != 0 ? end : record::ticks());
}

void add_place(record::DirectionCounts& counts, std::int64_t begin, std::int64_t bytes,
               bool is_first) noexcept {
  const std::atomic_ref last(counts.last_end);
  const std::int64_t before = last.load(std::memory_order_relaxed);
  if (!is_first && begin >= before) {
    add(counts.sequential, 1);
    if (begin == before) add(counts.consecutive, 1);
  }
  last.store(begin + bytes, std::memory_order_relaxed);
  raise_to(counts.furthest, begin + bytes);
}

void add_other(Direction direction, std::int64_t bytes) noexcept {
  record::ImageFile* const image = record::image();
  if (image == nullptr || is_off()) return;
  record::OtherCounts& other = image->header().other;
  add(direction == Direction::read ? other.read : other.written, bytes);
}

/// Where a transfer began.
std::int64_t begin_of(Opening& opening, int descriptor, std::int64_t bytes) noexcept {
  if (opening.is_moved.load(std::memory_order_relaxed)) [[unlikely]] {
    opening.is_moved.store(false, std::memory_order_relaxed);
    const off_t now = buffers::position_of(descriptor);
    opening.position.store(now < bytes ? 0 : now - bytes, std::memory_order_relaxed);
  }
  return opening.position.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace

void note_transfer(const Call& call, int descriptor, Direction direction, std::int64_t bytes,
                   std::int64_t offset) noexcept {
  const std::int64_t end = record::ticks();
  Opening& opening = opening_of(descriptor, end);
  AccessCounts* const counts = opening.counts(AccessLayer::posix);
  if (counts == nullptr) return add_other(direction, bytes);
  // What streams of C++ do with a stream of C's: its position tells nothing of its own calls.
  if (opening.stream_position.load(std::memory_order_relaxed) >= 0) {
    opening.stream_position.store(-1, std::memory_order_relaxed);
  }
  if (offset == kAtPosition) offset = begin_of(opening, descriptor, bytes);
  if (is_off()) return;
  record::DirectionCounts& own = direction == Direction::read ? counts->reads : counts->writes;
  const bool is_first = own.ticks == 0;
  add_access(own, bytes, end - call.begin());
  add_own_heat(direction, bytes, call.begin(), end);
  add_place(own, offset, bytes, is_first);
  keep_event({call.begin(), end - call.begin(), bytes, offset, operation_of(direction), false},
             *counts);
  const std::int64_t block = counts->block > 0 ? counts->block : 4096;
  const bool is_aligned =
      (block & (block - 1)) == 0 ? (offset & (block - 1)) == 0 : offset % block == 0;
  if (!is_aligned) add(counts->unaligned, 1);
}

void note_seek(const Call& call, int descriptor, std::int64_t position) noexcept {
  const std::int64_t end = record::ticks();
  Opening& opening = opening_of(descriptor, end);
  AccessCounts* const counts = opening.counts(AccessLayer::posix);
  if (counts == nullptr) return;
  opening.position.store(position, std::memory_order_relaxed);
  opening.is_moved.store(false, std::memory_order_relaxed);
  note_other(call, counts, {record::FileOperation::seek, AccessLayer::posix, &AccessCounts::seeks},
             position);
}

void note_other(const Call& call, AccessCounts* counts, const OtherKind& kind,
                std::int64_t offset) noexcept {
  if (counts == nullptr || is_off()) return;
  const std::int64_t taken = record::ticks() - call.begin();
  add(counts->other_ticks, taken);
  if (kind.count != nullptr) add(counts->*kind.count, 1);
  keep_event({call.begin(), taken, 0, offset, kind.operation, kind.layer == AccessLayer::stdio},
             *counts);
}

void note_mapped(AccessCounts& counts, std::int64_t bytes) noexcept {
  if (!is_off()) add(counts.mapped, bytes);
}

void note_ring() noexcept {
  if (!is_counting || !record::is_recording.load(std::memory_order_relaxed)) return;
  if (record::ImageFile* const image = record::image()) add(image->header().other.rings, 1);
}

AccessCounts* counts_of(int descriptor, AccessLayer layer) noexcept {
  return opening_of(descriptor, record::ticks()).counts(layer);
}

void note_stream(const Call& call, std::FILE* stream, Direction direction,
                 std::int64_t bytes) noexcept {
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  if (descriptor < 0) return;  // in memory
  if (!call.is_timed() && add_pending(descriptor, direction, bytes)) return;
  const std::int64_t end = call.is_timed() ? record::ticks() : 0;
  Opening& opening = opening_of(descriptor, end);
  AccessCounts* const counts = opening.counts(AccessLayer::stdio);
  if (counts == nullptr) return add_other(direction, bytes);
  opening.is_moved.store(true, std::memory_order_relaxed);
  if (opening.stream_position.load(std::memory_order_relaxed) >= 0) {
    opening.stream_position.fetch_add(bytes, std::memory_order_relaxed);
  }
  if (is_off()) return;
  add_access(direction == Direction::read ? counts->reads : counts->writes, bytes,
             end - call.begin());
  add_own_heat(direction, bytes, call.begin(), end);
  if (!call.is_timed()) return;
  keep_event({call.begin(), end - call.begin(), bytes, kAtPosition, operation_of(direction), true},
             *counts);
}

bool stays_in_buffer(std::FILE* stream, Direction direction, std::size_t most) noexcept {
  if (stream == nullptr) return false;
  const auto at = [](char* const& pointer) { return __atomic_load_n(&pointer, __ATOMIC_RELAXED); };
  const std::ptrdiff_t room = direction == Direction::write
                                  ? at(stream->_IO_write_end) - at(stream->_IO_write_ptr)
                                  : at(stream->_IO_read_end) - at(stream->_IO_read_ptr);
  return room > 0 && static_cast<std::size_t>(room) > most;
}

void settle_stream(std::FILE* stream) noexcept {
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  if (descriptor < 0) return;
  Opening& opening = opening_of(descriptor, record::ticks());
  if (opening.stands_for_many) return;
  opening.fold();
  AccessCounts* const counts = opening.counts(AccessLayer::stdio);
  const std::int64_t left = opening.stream_position.load(std::memory_order_relaxed);
  if (counts == nullptr || left < 0 || opening.is_append) return;
  const bool writes = ::__fwriting(stream) != 0;
  const bool reads = ::__freading(stream) != 0;
  const std::int64_t now = writes || reads ? ::ftello(stream) : -1;
  if (now <= left) return;
  opening.is_moved.store(true, std::memory_order_relaxed);
  opening.stream_position.store(now, std::memory_order_relaxed);
  if (is_off()) return;
  add(writes ? counts->writes.bytes : counts->reads.bytes, now - left);
  add_own_heat(writes ? Direction::write : Direction::read, now - left);
}

void restart_stream(std::FILE* stream) noexcept {
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  if (descriptor < 0) return;
  Opening& opening = opening_of(descriptor, record::ticks());
  if (opening.stands_for_many) return;
  opening.fold();
  opening.is_moved.store(true, std::memory_order_relaxed);
  if (opening.is_file) opening.stream_position.store(::ftello(stream), std::memory_order_relaxed);
}

}  // namespace headrace::posix
