#include "exchange/message_buffers.h"

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
    if (heard_.size() < count) make_messages(messenger, count);
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
  told_.resize(nodes);
  make_each(messenger, told_);
  // Last: it tells that all are there.
  std::vector<Verdict> heard(nodes);
  make_each(messenger, heard);
  heard_ = std::move(heard);
}

void MessageBuffers::make_room(ByteCount window_size) {
  const std::size_t part = round_up(part_room(window_size), kRoomAlignment);
  const std::size_t request = round_up(request_room(window_size), kRoomAlignment);
  const std::size_t parts = kSends + kReceives + kAnswers;
  window_size_ = 0;
  memory_.reset();  // not both at a time
  memory_.reset(new std::byte[parts * part + kMostSlots * request]);
  window_size_ = window_size;
  std::byte* place = memory_.get();
  const auto share_out = [&place](std::span<Buffer> buffers, std::size_t size) {
    for (Buffer& buffer : buffers) {
      buffer.room = {place, size};
      place += size;
    }
  };
  share_out(sends_, part);
  share_out(receives_, part);
  share_out(answers_, part);
  share_out(requests_, request);
}

std::vector<MessageBuffers::Source>& MessageBuffers::cleared_sources() {
  sources_.clear();
  return sources_;
}

}  // namespace headrace::exchange
