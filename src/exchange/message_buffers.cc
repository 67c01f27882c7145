#include "exchange/message_buffers.h"

#include <atomic>
#include <cassert>
#include <new>

#include "base/memory_account.h"
#include "base/result.h"
#include "base/rounding.h"
#include "base/settings.h"

namespace headrace::exchange {
namespace {

/// All buffers lie one after another in one block of memory, aligned to this.
constexpr std::size_t kRoomAlignment = 16;
static_assert(kRoomAlignment % kPartAlignment == 0);

std::size_t room_of_part(ByteCount window_size) {
  return round_up(part_room(window_size), kRoomAlignment);
}

void share_out(std::span<MessageBuffers::Buffer> buffers, std::byte* place, std::size_t room) {
  for (MessageBuffers::Buffer& buffer : buffers) {
    buffer.room = {place, room};
    place += room;
  }
}

template <class Places>
void make_each(fabric::Messenger& messenger, Places& places) {
  for (auto& place : places) {
    if (!place.message) place.message = messenger.make_message();
  }
}

}  // namespace

bool MessageBuffers::reserve(fabric::Messenger& messenger, int nodes, ByteCount window_size,
                             int slots, int counts_for) {
  assert(window_size > 0 && counts_for > 0);
  if (!make_places(messenger, nodes, slots)) return false;
  const bool is_enough = window_size <= size_.window && slots <= size_.slots;
  if (is_enough && counts_for == counts_for_) return true;
  release_room();
  counts_for_ = counts_for;
  for (std::size_t depth = kMaxDepth; depth > 0; depth /= 2) {
    if (make_room({window_size, slots, depth})) return true;
  }
  return false;
}

bool MessageBuffers::reserve_alike(fabric::Messenger& messenger, int nodes, const Size& size) {
  assert(size.window > 0 && size.depth > 0);
  if (!make_places(messenger, nodes, size.slots)) return false;
  if (size == size_) return true;
  release_room();
  return make_room(size);
}

bool MessageBuffers::make_places(fabric::Messenger& messenger, int nodes, int slots) {
  assert(nodes > 0 && 0 < slots && slots <= kMaxSlots);
  const auto count = static_cast<std::size_t>(nodes);
  return !attempt([&]() -> Error {
    if (!places_) places_ = std::make_unique<Places>();
    auto requests = std::span(places_->requests).first(static_cast<std::size_t>(slots));
    make_each(messenger, requests);
    if (replies_in().size() < count) make_messages(messenger, count);
    return {};
  });
}

void MessageBuffers::make_messages(fabric::Messenger& messenger, std::size_t nodes) {
  prepare_part_messages();
  make_each(messenger, places_->outgoing);
  make_each(messenger, places_->incoming);
  make_each(messenger, places_->received_requests);
  sources_.reserve(nodes);
  places_->replies_out.resize(nodes);
  make_each(messenger, places_->replies_out);
  // Last: make_places() takes its size as the sign that all messages exist.
  std::vector<Reply> replies_in(nodes);
  make_each(messenger, replies_in);
  places_->replies_in = std::move(replies_in);
}

bool MessageBuffers::make_room(const Size& wanted) {
  const std::size_t part = room_of_part(wanted.window);
  if (part > fabric::kLargestMessage) return false;
  const std::size_t request = round_up(request_room(wanted.window), kRoomAlignment);
  const std::size_t request_count = kMaxDepth + static_cast<std::size_t>(wanted.slots);
  const std::size_t size = 2 * wanted.depth * part + request_count * request;
  const ByteCount bytes = static_cast<ByteCount>(size) * counts_for_;
  if (!take_memory_within(MemoryUse::buffers, bytes, settings().node_memory)) return false;
  places_->memory.reset(new (std::nothrow) std::byte[size]);
  if (!places_->memory) {
    give_memory_back(MemoryUse::buffers, bytes);
    return false;
  }
  counted_ = bytes;
  size_ = wanted;
  std::byte* const first_request = places_->memory.get() + 2 * wanted.depth * part;
  share_out(received_requests(), first_request, request);
  share_out(requests(), first_request + kMaxDepth * request, request);
  arrange(1);
  return true;
}

void MessageBuffers::arrange(std::size_t parts) {
  assert(parts == 1 || (parts == 2 && has_room_to_join()));
  assert(places_ != nullptr && places_->memory != nullptr);
  const std::size_t part = room_of_part(size_.window);
  in_use_ = size_.depth / parts;
  share_out(outgoing(), places_->memory.get(), parts * part);
  share_out(incoming(), places_->memory.get() + size_.depth * part, parts * part);
}

void MessageBuffers::release_room() {
  if (!places_ || !places_->memory) return;
  places_->memory.reset();
  give_memory_back(MemoryUse::buffers, counted_);
  size_ = {};
  in_use_ = 0;
}

void MessageBuffers::abandon() noexcept {
  if (places_ && places_->end_all()) {
    release_room();
  } else if (places_) {
    keep_for_good(std::move(places_));
  }
  places_.reset();
  size_ = {};
  in_use_ = 0;
}

bool MessageBuffers::Places::end_all() noexcept {
  bool ended = true;
  const auto end_each = [&ended](auto& messages) {
    for (auto& one : messages) {
      if (one.message && !one.message->end()) ended = false;
    }
  };
  end_each(outgoing);
  end_each(incoming);
  end_each(received_requests);
  end_each(requests);
  end_each(replies_out);
  end_each(replies_in);
  return ended;
}

/// Keeps them in a list, so that leak checkers see them in use.
void MessageBuffers::keep_for_good(std::unique_ptr<Places> places) noexcept {
  static std::atomic<Places*> kept = nullptr;
  Places* const one = places.release();
  one->next_kept = kept.load();
  while (!kept.compare_exchange_weak(one->next_kept, one)) {
  }
}

std::vector<MessageBuffers::Source>& MessageBuffers::cleared_sources() {
  sources_.clear();
  return sources_;
}

}  // namespace headrace::exchange
