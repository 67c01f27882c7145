#include "device/staging.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "view/copy.h"

namespace headrace::device {
namespace {

constexpr ByteCount kLeastSize = ByteCount{4} << 10;
/// The smallest size of a buffer: smaller ones save nothing.
constexpr ByteCount kSmallSize = ByteCount{64} << 10;

/// The size of the host memory for a call: data that fits into one half is one stretch.
ByteCount size_for(ByteCount bytes, ByteCount most) {
  ByteCount size = kSmallSize;
  while (size < HostBuffer::kMaxSize && size / 2 < bytes) size *= 2;
  while (size > kLeastSize && size > most) size /= 2;
  return size;
}

}  // namespace

std::unique_ptr<Staging> Staging::make(Direction direction, const Place& place, std::byte* buffer,
                                       const view::Cursor& memory, ByteCount most) {
  const ByteCount size = size_for(memory.remaining(), most);
  return std::unique_ptr<Staging>(new Staging(direction, place, size, buffer, memory));
}

Staging::~Staging() {
  end_copies();
}

std::span<std::byte> Staging::open(ByteCount position, ByteCount bytes) {
  if (failure_ || !has_host()) return {};
  if (direction_ == Direction::write) {
    if (!present_.holds(position) && !load(position)) return {};
    const ByteCount given = std::min(bytes, present_.end() - position);
    return {memory_of(present_.half) + (position - present_.begin),
            static_cast<std::size_t>(given)};
  }
  const bool goes_on = position == present_.end() && present_.bytes < half_size();
  if (!goes_on) {
    if (!put()) return {};
    present_.begin = position;
  }
  opened_ = position;
  return {memory_of(present_.half) + present_.bytes,
          static_cast<std::size_t>(std::min(bytes, half_size() - present_.bytes))};
}

void Staging::close(ByteCount bytes) {
  if (direction_ == Direction::read && !failure_) present_.bytes = opened_ + bytes - present_.begin;
}

void Staging::flush() {
  if (direction_ == Direction::write || failure_ || !host_) return;
  if (put()) wait();
}

bool Staging::has_host() {
  if (host_) return true;
  Result<HostBuffer> taken = HostBuffer::take(place_, size_);
  if (!taken) return fail(taken.error());
  host_.emplace(std::move(taken.value()));
  return true;
}

/// Makes the stretch at `position` the present one, and begins to fetch the next one.
bool Staging::load(ByteCount position) {
  const ByteCount limit = memory_.position() + memory_.remaining();
  const auto stretch_at = [&](int half, ByteCount begin) {
    return Stretch{half, begin, std::min(half_size(), limit - begin)};
  };
  done_ = position;
  if (!other_moves_ || !other_.holds(position)) {
    // No copy may still use the half that is filled next.
    if (other_moves_ && !wait()) return false;
    other_ = stretch_at(other_.half, position);
    if (!begin_copy(other_)) return false;
  }
  if (!wait()) return false;
  std::swap(present_, other_);
  other_ = stretch_at(other_.half, present_.end());
  if (other_.bytes == 0) return true;
  return begin_copy(other_);
}

/// Begins to bring the present stretch to the device, and makes the other half the present one.
bool Staging::put() {
  if (present_.bytes == 0) return true;
  if (other_moves_ && !wait()) return false;
  if (!begin_copy(present_)) return false;
  std::swap(present_, other_);
  present_.begin = other_.end();
  present_.bytes = 0;
  return true;
}

/// Begins to copy a stretch between its half and the device.
bool Staging::begin_copy(const Stretch& stretch) {
  std::byte* const host = memory_of(stretch.half);
  other_moves_ = true;
  if (memory_.position() != stretch.begin) memory_.seek(stretch.begin);
  view::PairReader reader({0, stretch.bytes, 0, 1}, memory_);
  while (reader.next()) {
    const view::PiecePairs& pairs = reader.pairs();
    std::byte* const here = host + pairs.file_offset;
    std::byte* const there = view::memory_at(buffer_, pairs.memory_offset);
    const bool writes = direction_ == Direction::write;
    const Rows rows{writes ? here : there,
                    writes ? there : here,
                    pairs.length,
                    pairs.count,
                    writes ? pairs.file_stride : pairs.memory_stride,
                    writes ? pairs.memory_stride : pairs.file_stride};
    if (Error error = host_->copy(rows)) return fail(std::move(error));
  }
  return true;
}

/// Waits for all copies that were begun.
bool Staging::wait() {
  other_moves_ = false;
  if (Error error = host_->wait()) return fail(std::move(error));
  if (direction_ == Direction::read) done_ = std::max(done_, other_.end());
  return true;
}

bool Staging::fail(Error error) {
  failure_ = std::move(error);
  failure_.system_error = EFAULT;
  end_copies();
  return false;
}

/// Copies under way use the host memory: ends them before another call gets it.
void Staging::end_copies() {
  if (!std::exchange(other_moves_, false)) return;
  static_cast<void>(host_->wait());
}

}  // namespace headrace::device
