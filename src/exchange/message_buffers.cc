#include "exchange/message_buffers.h"

#include <atomic>

#include "base/result.h"
#include "base/rounding.h"

namespace headrace::exchange {
namespace {

/// Rooms follow each other in one piece of memory.
constexpr std::size_t kRoomAlignment = 16;

template <class Places>
void make_each(Messenger& messenger, Places& places) {
  for (auto& place : places) {
    if (!place.message) place.message = messenger.make_message();
  }
}

}  // namespace

bool MessageBuffers::reserve(Messenger& messenger, int nodes, ByteCount window_size) {
  const auto count = static_cast<std::size_t>(nodes);
  return !attempt([&]() -> Error {
    if (!places_) places_ = std::make_unique<Places>();
    if (heard().size() < count) make_messages(messenger, count);
    if (window_size > window_size_) make_room(window_size);
    return {};
  });
}

void MessageBuffers::make_messages(Messenger& messenger, std::size_t nodes) {
  prepare_part_messages();
  for (const auto buffers : {sends(), receives(), answers(), requests()}) {
    make_each(messenger, buffers);
  }
  sources_.reserve(nodes);
  places_->told.resize(nodes);
  make_each(messenger, places_->told);
  // Last: it tells that all are there.
  std::vector<Verdict> heard(nodes);
  make_each(messenger, heard);
  places_->heard = std::move(heard);
}

void MessageBuffers::make_room(ByteCount window_size) {
  const std::size_t part = round_up(part_room(window_size), kRoomAlignment);
  const std::size_t request = round_up(request_room(window_size), kRoomAlignment);
  const std::size_t parts = kSends + kReceives + kAnswers;
  window_size_ = 0;
  std::unique_ptr<std::byte[]>& memory = places_->memory;
  memory.reset();  // not both at a time
  memory.reset(new std::byte[parts * part + kMostSlots * request]);
  window_size_ = window_size;
  std::byte* place = memory.get();
  const auto share_out = [&place](std::span<Buffer> buffers, std::size_t size) {
    for (Buffer& buffer : buffers) {
      buffer.room = {place, size};
      place += size;
    }
  };
  share_out(sends(), part);
  share_out(receives(), part);
  share_out(answers(), part);
  share_out(requests(), request);
}

void MessageBuffers::abandon() noexcept {
  if (places_ && !places_->end_all()) keep_for_good(std::move(places_));
  places_.reset();
  window_size_ = 0;
}

bool MessageBuffers::Places::end_all() noexcept {
  bool ended = true;
  const auto end_each = [&ended](auto& messages) {
    for (auto& one : messages) {
      if (one.message && !one.message->end()) ended = false;
    }
  };
  end_each(sends);
  end_each(receives);
  end_each(answers);
  end_each(requests);
  end_each(told);
  end_each(heard);
  return ended;
}

/// In a list, so that tools which look for leaks find them in use.
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
