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

/// What a leader needs for exchanged calls: messages, their buffers, and lists of other nodes.
/// reserve() takes all memory, so that none is needed while other ranks wait. There are as many
/// messages under way as there are buffers: a sender that is faster than its receivers waits. The
/// buffers count as memory for the node's collective buffers.
class MessageBuffers {
 public:
  struct Buffer {
    std::span<std::byte> room;  ///< aligned to 16
    std::unique_ptr<fabric::Message> message;
    bool is_free = true;  ///< no message uses it
  };

  /// Another node that takes part in this node's own windows.
  struct Source {
    int node = 0;
    int rank = 0;
    std::int64_t next = -1;    ///< the window that its next message is about; -1: all have come
    std::int64_t joined = -1;  ///< the second window of that message; -1: none
    std::int64_t last = -1;
  };

  /// What an owner replies to a node that had parts in its windows.
  struct Reply {
    WriteStop stop{};
    std::unique_ptr<fabric::Message> message;
    bool is_free = true;
  };

  /// How much this leader has sent to other nodes.
  struct Sent {
    std::int64_t messages = 0;
    ByteCount bytes = 0;

    void add(std::int64_t more, std::size_t size) {
      messages += more;
      bytes += static_cast<ByteCount>(size);
    }
  };

  /// The largest number of parts of windows under way in each direction.
  static constexpr std::size_t kMaxDepth = 4;

  MessageBuffers() = default;
  ~MessageBuffers() { release_room(); }
  MessageBuffers(const MessageBuffers&) = delete;
  MessageBuffers& operator=(const MessageBuffers&) = delete;

  /// Called by a node's first leader, with no message under way: makes buffers for windows of at
  /// least `window_size` > 0 bytes, for 1 to kMaxSlots `slots`, among `nodes` nodes. Makes fewer
  /// buffers if memory is short; false if there is none. Counts the memory of `counts_for` leaders.
  bool reserve(fabric::Messenger& messenger, int nodes, ByteCount window_size, int slots,
               int counts_for);
  /// How large one leader's buffers are.
  struct Size {
    ByteCount window = 0;   ///< bytes of the largest window
    int slots = 0;          ///< slots of the node
    std::size_t depth = 0;  ///< parts of windows under way in each direction

    bool operator==(const Size&) const = default;
  };
  Size size() const { return size_; }
  /// Called by another leader: makes buffers as large as the first leader's, which counts them.
  bool reserve_alike(fabric::Messenger& messenger, int nodes, const Size& size);
  /// Called last, when a message has failed: ends all messages under way. If one cannot be ended,
  /// its buffer stays for good and stays counted, for data that comes late.
  void abandon() noexcept;

  /// Whether there is room for two messages of two parts each in each direction.
  bool has_room_to_join() const { return size_.depth == kMaxDepth; }
  /// Called with no message under way: from now on each message with data has room for `parts` (1
  /// or 2) parts.
  void arrange(std::size_t parts);
  /// Buffers for messages with data, to other nodes and from them.
  std::span<Buffer> outgoing() { return std::span(places_->outgoing).first(in_use_); }
  std::span<Buffer> incoming() { return std::span(places_->incoming).first(in_use_); }
  /// Buffers for other nodes' requests.
  std::span<Buffer> received_requests() { return places_->received_requests; }
  /// Buffers for this node's requests, one for each slot.
  std::span<Buffer> requests() { return std::span(places_->requests).first(slots()); }
  /// Returns the list of sources, emptied, with capacity for all nodes.
  std::vector<Source>& cleared_sources();
  /// One reply for each node, to send and to receive.
  std::span<Reply> replies_out() { return places_->replies_out; }
  std::span<Reply> replies_in() { return places_->replies_in; }
  Sent& sent() { return sent_; }

 private:
  std::size_t slots() const { return static_cast<std::size_t>(size_.slots); }
  bool make_places(fabric::Messenger& messenger, int nodes, int slots);
  void make_messages(fabric::Messenger& messenger, std::size_t nodes);
  bool make_room(const Size& size);
  void release_room();

  /// All that messages use while they are under way.
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
  std::size_t in_use_ = 0;  ///< messages with data in use in each direction
  int counts_for_ = 0;
  ByteCount counted_ = 0;
  std::vector<Source> sources_;
  std::unique_ptr<Places> places_;  ///< from reserve() to abandon()
};

}  // namespace headrace::exchange
