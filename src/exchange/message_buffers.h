#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "exchange/control.h"
#include "exchange/messenger.h"
#include "exchange/part_message.h"

namespace headrace::exchange {

/// Buffers of a leader's messages, for calls in which nodes exchange. As many messages as there are
/// buffers are on their way at a time: who sends faster than others receive waits.
class MessageBuffers {
 public:
  struct Buffer {
    std::span<std::byte> room;         ///< aligned to 16
    std::unique_ptr<Message> message;  ///< null where the buffer is free
  };

  /// What this leader has sent to other nodes.
  struct Sent {
    std::int64_t messages = 0;
    ByteCount bytes = 0;

    void add(std::int64_t more, std::size_t size) {
      messages += more;
      bytes += static_cast<ByteCount>(size);
    }
  };

  static constexpr std::size_t kSends = 4;
  static constexpr std::size_t kReceives = 4;
  static constexpr std::size_t kAnswers = 4;

  /// Buffers for windows of at least this size; false where there is no memory.
  bool reserve(ByteCount window_size) {
    if (window_size <= window_size_) return true;
    const std::size_t part = round_up(part_room(window_size));
    const std::size_t request = round_up(request_room(window_size));
    const std::size_t parts = kSends + kReceives + kAnswers;
    memory_.reset(new (std::nothrow) std::byte[parts * part + kMostSlots * request]);
    window_size_ = memory_ ? window_size : 0;
    if (!memory_) return false;
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
    return true;
  }

  std::span<Buffer> sends() { return sends_; }
  std::span<Buffer> receives() { return receives_; }
  std::span<Buffer> answers() { return answers_; }
  Sent& sent() { return sent_; }
  /// One for each slot.
  std::span<Buffer> requests() { return requests_; }

 private:
  static constexpr std::size_t round_up(std::size_t size) { return (size + 15) / 16 * 16; }

  Sent sent_;
  ByteCount window_size_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::array<Buffer, kSends> sends_;
  std::array<Buffer, kReceives> receives_;
  std::array<Buffer, kAnswers> answers_;
  std::array<Buffer, kMostSlots> requests_;
};

}  // namespace headrace::exchange
