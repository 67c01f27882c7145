#include "device/host_buffer.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "base/process_mark.h"

namespace headrace::device {
namespace {

using EntryPtr = std::unique_ptr<HostBuffer::Entry>;

/// The entries that no call uses. Never destroyed. A caller that finds it locked does without: in a
/// forked process the lock could stay taken. A forked process uses none of its parent's entries,
/// since the driver does not serve it.
struct Pool {
  std::mutex mutex;
  static constexpr std::size_t kMaxEntries = 4;
  std::array<EntryPtr, kMaxEntries> entries;
  ProcessMark process;
};

Pool& pool() {
  static auto* const all = new Pool;
  return *all;
}

/// Takes the smallest entry that is large enough; null if there is none.
EntryPtr take_pooled(const Place& place, ByteCount size) {
  Pool& all = pool();
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock || !all.process.is_here()) return nullptr;
  EntryPtr* best = nullptr;
  for (EntryPtr& entry : all.entries) {
    if (entry == nullptr || entry->place.driver != place.driver || entry->size < size) continue;
    if (entry->place.device != place.device) continue;
    if (best == nullptr || entry->size < (*best)->size) best = &entry;
  }
  return best != nullptr ? std::move(*best) : nullptr;
}

/// Puts an entry back. If all places are taken, it replaces one. Returns what the caller must free.
EntryPtr put_back(EntryPtr entry) {
  Pool& all = pool();
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock || !all.process.is_here()) return entry;
  for (EntryPtr& place : all.entries) {
    if (place == nullptr) return std::exchange(place, std::move(entry));
  }
  std::swap(all.entries[0], entry);
  return entry;
}

Result<EntryPtr> make(const Place& place, ByteCount size) {
  auto entry = std::make_unique<HostBuffer::Entry>();
  entry->place = place;
  Result<std::unique_ptr<Stream>> stream = place.driver->make_stream(place.device);
  if (!stream) return stream.error();
  entry->stream = std::move(stream.value());
  entry->size = size;
  entry->memory = entry->stream->take_memory(size);
  if (entry->memory == nullptr) {
    entry->pageable.reset(new std::byte[static_cast<std::size_t>(size)]);
    entry->memory = entry->pageable.get();
  }
  return entry;
}

}  // namespace

Result<HostBuffer> HostBuffer::take(const Place& place, ByteCount size) try {
  // Frees entries that a reset of their device has made useless.
  while (EntryPtr entry = take_pooled(place, size)) {
    if (entry->stream->is_valid()) return HostBuffer(std::move(entry));
  }
  Result<EntryPtr> made = make(place, size);
  if (!made) return made.error();
  return HostBuffer(std::move(made.value()));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

HostBuffer::~HostBuffer() {
  if (entry_ == nullptr || entry_->pageable != nullptr || entry_->has_failed) return;
  put_back(std::move(entry_));
}

Error HostBuffer::copy(const Rows& rows) {
  return note(attempt([&] { return entry_->stream->copy(rows); }));
}

Error HostBuffer::wait() {
  return note(attempt([&] { return entry_->stream->wait(); }));
}

/// Notes a failure: some stay with a stream, so the next call must not get it.
Error HostBuffer::note(Error error) {
  if (error) entry_->has_failed = true;
  return error;
}

}  // namespace headrace::device
