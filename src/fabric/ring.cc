#include "fabric/ring.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace headrace::fabric {
namespace {

/// What a rank posts on the board in one turn.
struct Turn {
  std::array<std::int64_t, Ring::kHeadLen> head;
  std::int64_t body_size;
};

class LoneRing : public Ring {
 public:
  Error turn(bool, const Message& mine, Message& theirs) override {
    theirs = mine;
    return {};
  }
  Error combine_posted(PostedValue&, CombinePosted) override { return {}; }
};

/// Heads go over the board; bodies go through two boxes of each rank, one for each direction. A box
/// may be overwritten once all ranks have come to combine().
class NodeRing : public Ring {
 public:
  NodeRing(Channel& channel, const MemoryRange& boxes) : board_(channel.board()), boxes_(boxes) {}

  void wait_as(const Waiter& waiter) override { waiter_ = waiter; }

  Error turn(bool onward, const Message& mine, Message& theirs) override {
    assert(mine.body.size() <= kMaxBody);
    std::ranges::copy(mine.body, box(board_.rank(), onward));
    board_.post(waiter_, Turn{mine.head, std::ssize(mine.body)});
    board_.wait_for_all(waiter_);
    const int ranks = board_.ranks();
    const int from = (board_.rank() + (onward ? ranks - 1 : 1)) % ranks;
    const Turn& posted = board_.posted_by<Turn>(from);
    theirs.head = posted.head;
    const std::byte* const body = box(from, onward);
    theirs.body.assign(body, body + posted.body_size);
    return {};
  }

  Error combine_posted(PostedValue& value, CombinePosted way) override {
    board_.post(waiter_, value);
    value = board_.combine(waiter_, way);
    return {};
  }

 private:
  std::byte* box(int rank, bool onward) const {
    return boxes_.base + (2 * static_cast<std::size_t>(rank) + (onward ? 0 : 1)) * kMaxBody;
  }

  Board& board_;
  MemoryRange boxes_;
  Waiter waiter_;
};

class MessageRing : public Ring {
 public:
  explicit MessageRing(Channel& channel) : channel_(channel) {}

  Error turn(bool onward, const Message& mine, Message& theirs) override {
    assert(mine.body.size() <= kMaxBody);
    const int next = (channel_.nodes().rank() + 1) % channel_.nodes().size();
    const int before =
        (channel_.nodes().rank() + channel_.nodes().size() - 1) % channel_.nodes().size();
    const int to = onward ? next : before;
    const int from = onward ? before : next;
    std::array<std::int64_t, kHeadLen + 1> out{};
    std::array<std::int64_t, kHeadLen + 1> in{};
    std::ranges::copy(mine.head, out.begin());
    out.back() = std::ssize(mine.body);
    if (Error error = channel_.exchange(to, std::as_bytes(std::span(out)), from,
                                        std::as_writable_bytes(std::span(in)))) {
      return error;
    }
    std::copy_n(in.begin(), theirs.head.size(), theirs.head.begin());
    theirs.body.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(in.back(), 0, kMaxBody)));
    return channel_.exchange(mine.body.empty() ? -1 : to, mine.body,
                             theirs.body.empty() ? -1 : from, theirs.body);
  }

  Error combine_posted(PostedValue& value, CombinePosted way) override {
    return channel_.combine_posted(value, way);
  }

 private:
  Channel& channel_;
};

}  // namespace

std::unique_ptr<Ring> make_lone_ring() {
  return std::make_unique<LoneRing>();
}

std::unique_ptr<Ring> make_node_ring(Channel& channel, const MemoryRange& boxes) {
  return std::make_unique<NodeRing>(channel, boxes);
}

std::unique_ptr<Ring> make_message_ring(Channel& channel) {
  return std::make_unique<MessageRing>(channel);
}

}  // namespace headrace::fabric
