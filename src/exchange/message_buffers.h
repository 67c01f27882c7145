#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exchange/control.h"
#include "exchange/messenger.h"
#include "exchange/part_message.h"

namespace headrace::exchange {

/// What a leader needs for calls in which nodes exchange: messages, their buffers, and lists of
/// other nodes. All memory is taken by reserve(), so that none is needed while others wait. As many
/// messages as there are buffers are on their way at a time: who sends faster than others receive
/// waits.
class MessageBuffers {
 public:
  struct Buffer {
    std::span<std::byte> room;  ///< aligned to 16
    std::unique_ptr<Message> message;
    bool is_free = true;  ///< no message is on its way
  };

  /// Another node that takes part in this node's own windows.
  struct Source {
    int node = 0;
    int rank = 0;
    std::int64_t next = -1;  ///< the window that its next message is about; -1 where all have come
    std::int64_t last = -1;
  };

  /// What an owner tells a node of the windows that it had parts in.
  struct Verdict {
    WriteStop stop{};
    std::unique_ptr<Message> message;
    bool is_free = true;
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

  MessageBuffers() = default;
  MessageBuffers(const MessageBuffers&) = delete;
  MessageBuffers& operator=(const MessageBuffers&) = delete;

  static constexpr std::size_t kSends = 4;
  static constexpr std::size_t kReceives = 4;
  static constexpr std::size_t kAnswers = 4;

  /// For windows of at least this size, among `nodes`; false where there is no memory.
  bool reserve(Messenger& messenger, int nodes, ByteCount window_size);
  /// When a message has failed: ends those that are on their way. The last call. What comes late
  /// finds no buffer, or one that stays for good.
  void abandon() noexcept;

  std::span<Buffer> sends() { return places_->sends; }
  std::span<Buffer> receives() { return places_->receives; }
  std::span<Buffer> answers() { return places_->answers; }
  /// One for each slot.
  std::span<Buffer> requests() { return places_->requests; }
  /// Empty, with room for all nodes.
  std::vector<Source>& cleared_sources();
  /// One for each node: to send, and to receive.
  std::span<Verdict> told() { return places_->told; }
  std::span<Verdict> heard() { return places_->heard; }
  Sent& sent() { return sent_; }

 private:
  void make_messages(Messenger& messenger, std::size_t nodes);
  void make_room(ByteCount window_size);

  /// All that messages use on their way.
  struct Places {
    std::unique_ptr<std::byte[]> memory;
    std::array<Buffer, kSends> sends;
    std::array<Buffer, kReceives> receives;
    std::array<Buffer, kAnswers> answers;
    std::array<Buffer, kMostSlots> requests;
    std::vector<Verdict> told;
    std::vector<Verdict> heard;
    Places* next_kept = nullptr;

    bool end_all() noexcept;
  };
  static void keep_for_good(std::unique_ptr<Places> places) noexcept;

  Sent sent_;
  ByteCount window_size_ = 0;
  std::vector<Source> sources_;
  std::unique_ptr<Places> places_;  ///< from reserve() to abandon()
};

}  // namespace headrace::exchange
