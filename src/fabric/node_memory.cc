#include "fabric/node_memory.h"

#include <algorithm>
#include <new>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/settings.h"

namespace headrace::fabric {
namespace {

/// The first bytes stay committed when they are given back: the next reservation finds them warm.
constexpr std::size_t kKeptBytes = std::size_t{5} << 20;

constexpr std::align_val_t kAlignment{kPage};

}  // namespace

NodeMemory::NodeMemory(SharedMemory* shared, const MemoryLayout& layout, bool is_used)
    : shared_(shared),
      begin_(layout.reservable_offset()),
      is_used_(is_used),
      pool_(layout.reservable()) {}

std::optional<MemoryRange> NodeMemory::reserve(std::size_t size) {
  if (!is_used_) return std::nullopt;
  const auto bytes = static_cast<ByteCount>(size);
  const ByteCount most = buffers_share(settings().node_memory);
  if (!take_memory_within(MemoryUse::buffers, bytes, most)) return std::nullopt;
  std::optional<MemoryRange> taken;
  if (const std::optional<std::size_t> place = pool_.take(size)) {
    taken = get(*place, size);
    if (!taken) pool_.give_back(*place, size);
  }
  if (!taken) give_memory_back(MemoryUse::buffers, bytes);
  return taken;
}

std::optional<MemoryRange> NodeMemory::get(std::size_t place, std::size_t size) {
  if (shared_ != nullptr) {
    const std::size_t offset = begin_ + place;
    if (!shared_->commit(offset, size)) return std::nullopt;
    return at(static_cast<std::int64_t>(offset), size);
  }
  void* const own = ::operator new(size, kAlignment, std::nothrow);
  if (own == nullptr) return std::nullopt;
  return MemoryRange{static_cast<std::byte*>(own), static_cast<std::int64_t>(place), size};
}

MemoryRange NodeMemory::at(std::int64_t offset, std::size_t size) const {
  return {shared_->base() + offset, offset, size};
}

void NodeMemory::give_back(const MemoryRange& range) {
  give_memory_back(MemoryUse::buffers, static_cast<ByteCount>(range.size));
  const auto offset = static_cast<std::size_t>(range.offset);
  if (shared_ == nullptr) {
    ::operator delete(range.base, kAlignment);
    return pool_.give_back(offset, range.size);
  }
  const std::size_t place = offset - begin_;
  const std::size_t kept = place < kKeptBytes ? std::min(range.size, kKeptBytes - place) : 0;
  if (kept < range.size) shared_->release(offset + kept, range.size - kept);
  pool_.give_back(place, range.size);
}

}  // namespace headrace::fabric
