#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exchange/exchanged_call.h"
#include "exchange/message_buffers.h"
#include "exchange/part_message.h"
#include "record/call_timer.h"

namespace headrace::exchange {

/// A leader's part in an exchanged call, as far as reads and writes share it: the messages of other
/// nodes about this node's own windows, in the order in which each sender sends them, and their
/// buffers. A leader deals only with its share of the windows. Windows have the plan's numbers
/// here, from 0. No function waits: each does what can be done now and returns whether it did
/// anything.
class ExchangeLeader {
 protected:
  /// `received`: buffers for the messages about this node's own windows.
  ExchangeLeader(const LeaderCall& lead, std::span<MessageBuffers::Buffer> received);

  using Source = MessageBuffers::Source;
  /// A received message about one or two of this node's own windows.
  struct Incoming {
    std::span<const std::byte> message;
    std::int64_t window = 0;
    std::int64_t joined = -1;  ///< the window of the message's second part; -1: none
    int node = 0;
  };

  int me() const { return call_.channel.nodes().node_index(); }
  std::int64_t count() const { return lead_.plan.count(); }
  std::int64_t number_of(std::int64_t window) const { return lead_.first_window + window; }
  bool has_slot(std::int64_t window) const { return call_.slots.has_slot(number_of(window)); }
  Slot& slot(std::int64_t window) const { return call_.slots.slot(number_of(window)); }
  plan::FileRange range(std::int64_t window) const { return lead_.plan.windows().range(window); }
  WindowMemory memory_of(std::int64_t window) const;
  plan::Coverage coverage(std::int64_t window) const {
    return call_.slots.coverage(number_of(window), call_.granule_shift);
  }
  /// Sets which window the source's next message begins with: its first one from `window` on.
  void advance(Source& source, std::int64_t window) const;
  bool is_mine(std::int64_t window) const { return lead_.plan.leader_of(window) == lead_.leader; }
  LeaderState& state() const { return call_.state(lead_.leader); }
  /// The first window from `window` on that this node owns and this leader deals with; count() if
  /// there is none.
  std::int64_t next_own(std::int64_t window) const;
  int arrived(std::int64_t window) const {
    return slot(window).arrived.load(std::memory_order_seq_cst);
  }
  /// How many ranks of the node take part in a window.
  int ranks_in(std::int64_t window) const { return lead_.ranks.participants_of(range(window)); }
  void pass_on(std::int64_t window);
  int& of_others(std::int64_t window) { return of_others_[call_.slots.index(number_of(window))]; }

  static MessageBuffers::Buffer* free_one(std::span<MessageBuffers::Buffer> buffers);
  void send(FileChannel::MessageKind kind, int node, MessageBuffers::Buffer& buffer,
            std::size_t size);
  bool reap_sends();
  bool has_sends() const;

  /// Begins to receive the next messages, for windows that `may_take(window)` accepts.
  template <class MayTake>
  bool receive_next(MayTake may_take);
  /// Hands each received message to `take(Incoming)`, which returns false if it cannot take it yet.
  template <class Take>
  bool take_received(Take take);
  /// Whether no received message of the same node is about an earlier window.
  bool is_first(const Incoming& incoming) const;

  /// Notes that a message failed. From then on the leader neither sends nor receives, and passes
  /// its windows on as they come: the node's ranks and other leaders need their slots.
  void fail() { has_failed_ = true; }
  /// What `step` does counts as exchanging, but for what it says is copied.
  template <class Step>
  static bool exchange_step(Step step) {
    const record::InPhase phase(record::Phase::exchange);
    return step();
  }
  /// Yields or sleeps, if there was nothing to do since event().changes() was `seen`.
  void rest(std::uint32_t seen);
  void end(const WriteStop& stop);

  const LeaderCall& lead_;
  const ExchangedCall& call_;
  fabric::Messenger& messenger_;
  std::vector<Source>& sources_;
  bool has_failed_ = false;
  int idle_ = 0;

 private:
  struct Receiving {
    std::int64_t window = -1;  ///< -1: none
    std::int64_t joined = -1;
    int node = 0;
    std::size_t size = 0;
    bool is_here = false;
  };

  std::size_t turn_ = 0;
  std::span<MessageBuffers::Buffer> received_;
  std::array<Receiving, MessageBuffers::kMaxDepth> receiving_;  ///< for each buffer of received_
  std::array<int, kMaxSlots>
      of_others_{};  ///< for each slot: how many parts of other nodes are done
};

template <class MayTake>
bool ExchangeLeader::receive_next(MayTake may_take) {
  const auto places = std::span(receiving_).first(received_.size());
  const auto place = std::ranges::find(places, -1, &Receiving::window);
  if (place == places.end() || sources_.empty()) return false;
  const record::InPhase phase(record::Phase::send);
  const int tag = call_.channel.tag_of(FileChannel::MessageKind::part);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[(turn_ + i) % sources_.size()];
    if (source.next < 0 || !may_take(source.next)) continue;
    if (source.joined >= 0 && !may_take(source.joined)) continue;
    const auto found = messenger_.find(tag, source.rank);
    if (!found) return fail(), false;
    if (!found.value()) continue;
    MessageBuffers::Buffer& buffer = received_[static_cast<std::size_t>(place - places.begin())];
    const std::size_t size = found.value()->size;
    if (size > buffer.room.size()) return fail(), false;
    if (messenger_.start_receive(*buffer.message, tag, source.rank, buffer.room.first(size))) {
      return fail(), false;
    }
    *place = {source.next, source.joined, source.node, size, false};
    advance(source, std::max(source.next, source.joined) + 1);
    turn_ = (turn_ + i + 1) % sources_.size();
    return true;
  }
  return false;
}

template <class Take>
bool ExchangeLeader::take_received(Take take) {
  bool took = false;
  for (std::size_t i = 0; i < received_.size() && !has_failed_; ++i) {
    Receiving& one = receiving_[i];
    if (one.window < 0) continue;
    MessageBuffers::Buffer& buffer = received_[i];
    if (!one.is_here) {
      const auto done = buffer.message->is_done();
      if (!done) return fail(), false;
      one.is_here = done.value();
    }
    if (!one.is_here ||
        !take(Incoming{buffer.room.first(one.size), one.window, one.joined, one.node})) {
      continue;
    }
    one.window = -1;
    took = true;
  }
  return took;
}

}  // namespace headrace::exchange
