#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exchange/file_state.h"
#include "exchange/part_message.h"
#include "fabric/messenger.h"

namespace headrace::exchange {

/// What a leader needs for calls in which nodes exchange: messages, their buffers, and lists of
/// other nodes. All memory is taken when it is reserved, so that none is needed while others wait.
/// As many messages as there are buffers are on their way at a time: who sends faster than others
/// receive waits. The buffers are part of the node's memory for collective buffers.
class MessageBuffers {
 public:
  struct Buffer {
    std::span<std::byte> room;  ///< aligned to 16
    std::unique_ptr<fabric::Message> message;
    bool is_free = true;  ///< no message is on its way
  };

  /// Another node that takes part in this node's own windows.
  struct Source {
    int node = 0;
    int rank = 0;
    std::int64_t next = -1;  ///< the window that its next message is about; -1 where all have come
    std::int64_t joined = -1;  ///< and the second one; -1: none
    std::int64_t last = -1;
  };

  /// What an owner tells a node of the windows that it had parts in.
  struct Reply {
    WriteStop stop{};
    std::unique_ptr<fabric::Message> message;
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

  /// Parts of windows in each direction at a time.
  static constexpr std::size_t kMaxDepth = 4;

  MessageBuffers() = default;
  ~MessageBuffers() { release_room(); }
  MessageBuffers(const MessageBuffers&) = delete;
  MessageBuffers& operator=(const MessageBuffers&) = delete;

  /// A node's first leader's: for windows of at least this size in so many slots, among `nodes`;
  /// with fewer buffers where memory is short, and false where there is none. With no
  /// message on its way. Counts the memory of so many leaders.
  bool reserve(fabric::Messenger& messenger, int nodes, ByteCount window_size, int slots,
               int counts_for);
  /// What one leader has.
  struct Size {
    ByteCount window = 0;   ///< largest window
    int slots = 0;          ///< of the node
    std::size_t depth = 0;  ///< parts of windows on their way in each direction

    bool operator==(const Size&) const = default;
  };
  Size size() const { return size_; }
  /// Another leader's: as much as the first one has, who counts it.
  bool reserve_alike(fabric::Messenger& messenger, int nodes, const Size& size);
  /// When a message has failed: ends those that are on their way. The last call. What comes late
  /// finds no buffer, or one that stays for good, and stays counted.
  void abandon() noexcept;

  /// Whether there are two messages each way where each has two parts.
  bool has_room_to_join() const { return size_.depth == kMaxDepth; }
  /// With no message on its way: from now on each message with data has room for so many parts.
  void arrange(std::size_t parts);
  /// For messages with data to other nodes, and from them.
  std::span<Buffer> outgoing() { return std::span(places_->outgoing).first(in_use_); }
  std::span<Buffer> incoming() { return std::span(places_->incoming).first(in_use_); }
  /// For other nodes' requests.
  std::span<Buffer> received_requests() { return places_->received_requests; }
  /// One for each slot.
  std::span<Buffer> requests() { return std::span(places_->requests).first(slots()); }
  /// Empty, with room for all nodes.
  std::vector<Source>& cleared_sources();
  /// One for each node: to send, and to receive.
  std::span<Reply> replies_out() { return places_->replies_out; }
  std::span<Reply> replies_in() { return places_->replies_in; }
  Sent& sent() { return sent_; }

 private:
  std::size_t slots() const { return static_cast<std::size_t>(size_.slots); }
  bool make_places(fabric::Messenger& messenger, int nodes, int slots);
  void make_messages(fabric::Messenger& messenger, std::size_t nodes);
  bool make_room(const Size& size);
  void release_room();

  /// All that messages use on their way.
  struct Places {
    std::unique_ptr<std::byte[]> memory;
    std::array<Buffer, kMaxDepth> outgoing;
    std::array<Buffer, kMaxDepth> incoming;
    std::array<Buffer, kMaxDepth> received_requests;
    std::array<Buffer, kMaxSlots> requests;
    std::vector<Reply> replies_out;
    std::vector<Reply> replies_in;
    Places* next_kept = nullptr;

    bool end_all() noexcept;
  };
  static void keep_for_good(std::unique_ptr<Places> places) noexcept;

  Sent sent_;
  Size size_;
  std::size_t in_use_ = 0;  ///< messages with data in each direction
  int counts_for_ = 0;
  ByteCount counted_ = 0;
  std::vector<Source> sources_;
  std::unique_ptr<Places> places_;  ///< from reserve() to abandon()
};

}  // namespace headrace::exchange
