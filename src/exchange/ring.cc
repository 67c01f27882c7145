#include "exchange/ring.h"

#include <algorithm>
#include <cstring>

namespace headrace::exchange {
namespace {

class LoneRing : public Ring {
 public:
  Error turn(bool, const Message& mine, Message& theirs) override {
    theirs = mine;
    return {};
  }
  Error combine(Values&, std::span<const Combine>) override { return {}; }
};

/// Heads go over the board, bodies through two boxes of each rank, one for each direction. What is
/// in a box has been read when all have come to combine().
class NodeRing : public Ring {
 public:
  NodeRing(Channel& channel, const SlotMemory& boxes) : board_(*channel.board()), boxes_(boxes) {}

  void wait_as(const Waiter& waiter) override { waiter_ = waiter; }

  Error turn(bool onward, const Message& mine, Message& theirs) override {
    std::ranges::copy(mine.body, box(board_.rank(), onward));
    Values values{};
    std::ranges::copy(mine.head, values.begin());
    values[mine.head.size()] = std::ssize(mine.body);
    board_.post(waiter_, values);
    board_.wait_for_all(waiter_);
    const int ranks = board_.ranks();
    const int from = (board_.rank() + (onward ? ranks - 1 : 1)) % ranks;
    const Values& told = board_.values_of(from);
    std::copy_n(told.begin(), theirs.head.size(), theirs.head.begin());
    const std::byte* const body = box(from, onward);
    theirs.body.assign(body, body + told[theirs.head.size()]);
    return {};
  }

  Error combine(Values& values, std::span<const Combine> ways) override {
    board_.post(waiter_, values);
    values = board_.combine(waiter_, ways);
    return {};
  }

 private:
  std::byte* box(int rank, bool onward) const {
    return boxes_.base + (2 * static_cast<std::size_t>(rank) + (onward ? 0 : 1)) * kMostBody;
  }

  Board& board_;
  SlotMemory boxes_;
  Waiter waiter_;
};

class MessageRing : public Ring {
 public:
  explicit MessageRing(Channel& channel) : channel_(channel) {}

  Error turn(bool onward, const Message& mine, Message& theirs) override {
    const int next = (channel_.rank() + 1) % channel_.size();
    const int before = (channel_.rank() + channel_.size() - 1) % channel_.size();
    const int to = onward ? next : before;
    const int from = onward ? before : next;
    std::array<std::int64_t, 8> out{};
    std::array<std::int64_t, 8> in{};
    std::ranges::copy(mine.head, out.begin());
    out.back() = std::ssize(mine.body);
    if (Error error = channel_.exchange(to, std::as_bytes(std::span(out)), from,
                                        std::as_writable_bytes(std::span(in)))) {
      return error;
    }
    std::copy_n(in.begin(), theirs.head.size(), theirs.head.begin());
    theirs.body.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(in.back(), 0, kMostBody)));
    return channel_.exchange(mine.body.empty() ? -1 : to, mine.body,
                             theirs.body.empty() ? -1 : from, theirs.body);
  }

  Error combine(Values& values, std::span<const Combine> ways) override {
    return channel_.combine(values, ways);
  }

 private:
  Channel& channel_;
};

}  // namespace

std::unique_ptr<Ring> make_lone_ring() {
  return std::make_unique<LoneRing>();
}

std::unique_ptr<Ring> make_node_ring(Channel& channel, const SlotMemory& boxes) {
  return std::make_unique<NodeRing>(channel, boxes);
}

std::unique_ptr<Ring> make_message_ring(Channel& channel) {
  return std::make_unique<MessageRing>(channel);
}

}  // namespace headrace::exchange
