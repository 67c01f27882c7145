#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "collective/algorithm.h"
#include "collective/call_note.h"
#include "collective/execution.h"
#include "collective/node_transport.h"
#include "sim/mailbox.h"

/// Ranks of emulated nodes that carry schedules out in one thread, in any order: the product's own
/// plans, executor and transport, with mailboxes in place of MPI.
namespace headrace::collective {

/// The ranks of each node, in rank order; nodes in the order of their first ranks.
using Nodes = std::vector<std::vector<int>>;

inline Nodes in_blocks(const std::vector<int>& sizes) {
  Nodes nodes;
  int next = 0;
  for (const int size : sizes) {
    nodes.emplace_back();
    for (int i = 0; i < size; ++i) nodes.back().push_back(next++);
  }
  return nodes;
}

/// Rank r on node r % count, as far as nodes have room.
inline Nodes dealt_round(const std::vector<int>& sizes) {
  Nodes nodes(sizes.size());
  int next = 0;
  for (bool is_any = true; is_any;) {
    is_any = false;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      if (static_cast<int>(nodes[node].size()) == sizes[node]) continue;
      nodes[node].push_back(next++);
      is_any = true;
    }
  }
  return nodes;
}

/// The tables of a communicator, and the shapes that its ranks see.
class Layout {
 public:
  explicit Layout(const Nodes& nodes) {
    begins_.push_back(0);
    for (const std::vector<int>& node : nodes) {
      ranks_.insert(ranks_.end(), node.begin(), node.end());
      begins_.push_back(static_cast<int>(ranks_.size()));
      largest_ = std::max(largest_, static_cast<int>(node.size()));
    }
  }

  Shape shape_of(int rank) const {
    const auto place = static_cast<int>(std::ranges::find(ranks_, rank) - ranks_.begin());
    int node = 0;
    while (begins_[static_cast<std::size_t>(node) + 1] <= place) ++node;
    const auto index = static_cast<std::size_t>(node);
    Shape shape;
    shape.rank = rank;
    shape.size = static_cast<int>(ranks_.size());
    shape.node_index = node;
    shape.node_rank = place - begins_[index];
    shape.node_size = begins_[index + 1] - begins_[index];
    shape.node_count = static_cast<int>(begins_.size()) - 1;
    shape.largest_node = largest_;
    shape.node_begins = begins_;
    if (!std::ranges::is_sorted(ranks_)) shape.ranks = ranks_;
    return shape;
  }
  int size() const { return static_cast<int>(ranks_.size()); }
  int node_of(int rank) const { return shape_of(rank).node_index; }

 private:
  std::vector<int> begins_;
  std::vector<int> ranks_;
  int largest_ = 0;
};

/// Whether what is moved is told by parcels.
constexpr bool moves_parcels(Operation operation) {
  return operation >= Operation::gather;
}

struct Parcel {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// What a rank does in one call.
struct RankCall {
  Call call;
  std::vector<std::byte> send;
  std::vector<std::byte> receive;
  bool is_in_place = false;
  std::size_t in_place_offset = 0;  ///< of what is sent, in `receive`
  // With parcels: by rank; none where nothing is moved.
  std::vector<Parcel> to;
  std::vector<Parcel> from;
  bool may_fail = false;
  Error failure;  ///< afterwards
};

/// Parcels of bytes.
class PlainParcels final : public Parcels {
 public:
  explicit PlainParcels(RankCall& call) : call_(call) {}

  std::size_t bytes_to(int rank) override { return of(call_.to, rank).bytes; }
  std::size_t bytes_from(int rank) override { return of(call_.from, rank).bytes; }
  void pack(int rank, std::byte* to) override { std::copy_n(given(rank), bytes_to(rank), to); }
  void unpack(int rank, const std::byte* from, std::size_t bytes) override {
    std::copy_n(from, bytes, call_.receive.data() + of(call_.from, rank).offset);
  }
  Outgoing to(int rank) override {
    const std::size_t bytes = bytes_to(rank);
    Outgoing outgoing{{given(rank), static_cast<std::int64_t>(bytes), nullptr}, nullptr};
    if (call_.is_in_place) {
      outgoing.copy = std::make_unique<std::byte[]>(bytes);
      pack(rank, outgoing.copy.get());
      outgoing.data.address = outgoing.copy.get();
    }
    return outgoing;
  }
  fabric::TypedData from(int rank) override {
    const Parcel parcel = of(call_.from, rank);
    return {call_.receive.data() + parcel.offset, static_cast<std::int64_t>(parcel.bytes), nullptr};
  }

 private:
  static Parcel of(const std::vector<Parcel>& parcels, int rank) {
    return parcels.empty() ? Parcel() : parcels[static_cast<std::size_t>(rank)];
  }
  const std::byte* given(int rank) const {
    const std::vector<std::byte>& data = call_.is_in_place ? call_.receive : call_.send;
    return data.data() + of(call_.to, rank).offset;
  }

  RankCall& call_;
};

/// Keeps count of how many messages are under way at a time.
class CountingMessenger final : public sim::MailboxMessenger {
 public:
  using sim::MailboxMessenger::MailboxMessenger;

  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    note(sending_, message, most_sending);
    return sim::MailboxMessenger::start_send(message, tag, to, outgoing);
  }
  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    note(receiving_, message, most_receiving);
    return sim::MailboxMessenger::start_receive(message, tag, from, incoming);
  }

  std::size_t most_sending = 0;
  std::size_t most_receiving = 0;
  std::size_t begun = 0;

 private:
  void note(std::vector<fabric::Message*>& under_way, fabric::Message& message, std::size_t& most) {
    const auto is_over = [](fabric::Message* one) {
      return !static_cast<sim::MailboxMessage*>(one)->is_on_its_way();
    };
    std::erase_if(sending_, is_over);
    std::erase_if(receiving_, is_over);
    under_way.push_back(&message);
    ++begun;
    most = std::max(most, under_way.size());
  }

  std::vector<fabric::Message*> sending_;
  std::vector<fabric::Message*> receiving_;
};

class World {
 public:
  World(const Nodes& nodes, std::size_t stage_size, int throttle = 8)
      : layout_(nodes),
        office_(layout_.size()),
        stage_size_(stage_size),
        throttle_(throttle),
        nodes_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes_[i].bells = std::make_unique<fabric::MilestoneBells>();
      nodes_[i].milestones = std::make_unique<fabric::Milestone[]>(nodes[i].size());
      nodes_[i].stages.resize(2 * stage_size);
    }
    for (int rank = 0; rank < layout_.size(); ++rank) {
      auto own = std::make_unique<Rank>();
      own->shape = layout_.shape_of(rank);
      own->messenger = std::make_unique<CountingMessenger>(office_, rank);
      Node& node = nodes_[static_cast<std::size_t>(own->shape.node_index)];
      own->transport = std::make_unique<NodeTransport>(
          fabric::Milestones(
              *node.bells, {node.milestones.get(), static_cast<std::size_t>(own->shape.node_size)},
              own->shape.node_rank),
          fabric::Waiter{own->messenger.get(), 1}, kTag);
      ranks_.push_back(std::move(own));
    }
  }

  static constexpr int kTag = 7;
  /// A slow rank goes on in one of so many turns.
  static constexpr unsigned kSlowness = 12;

  const Layout& layout() const { return layout_; }
  Limits limits() const { return {stage_size_, throttle_}; }
  /// All messages go between nodes: on a node there are none, but for parcels that are large.
  std::int64_t messages() const { return office_.messages(kTag); }
  std::int64_t bytes() const { return office_.bytes(kTag); }
  const CountingMessenger& messenger(int rank) const {
    return *ranks_[static_cast<std::size_t>(rank)]->messenger;
  }

  /// calls[rank][i]: the rank's i-th call. Which ranks go on when is drawn, and one of them is
  /// slow, so that others run ahead where they may. Throws where none can go on.
  void run(std::vector<std::vector<RankCall>>& calls, const Algorithm* algorithm,
           const Reduction& reduction, std::mt19937& random) {
    for (auto& rank : ranks_) rank->next = 0;
    const int slow = static_cast<int>(random() % ranks_.size());
    for (std::size_t left = ranks_.size(); left > 0;) {
      bool has_moved = random() % kSlowness != 0;
      const bool skips = has_moved;
      std::vector<int> order(ranks_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::ranges::shuffle(order, random);
      left = 0;
      for (const int rank : order) {
        if (!skips || rank != slow)
          has_moved |= advance(rank, calls[static_cast<std::size_t>(rank)], algorithm, reduction);
        const Rank& own = *ranks_[static_cast<std::size_t>(rank)];
        if (own.next < calls[static_cast<std::size_t>(rank)].size()) ++left;
      }
      if (!has_moved && left > 0) throw std::runtime_error("no rank can go on");
    }
  }

 private:
  struct Node {
    std::unique_ptr<fabric::MilestoneBells> bells;
    std::unique_ptr<fabric::Milestone[]> milestones;
    std::vector<std::byte> stages;
  };
  struct Rank {
    Shape shape;
    std::unique_ptr<CountingMessenger> messenger;
    std::unique_ptr<NodeTransport> transport;
    std::size_t next = 0;  ///< call
    Schedule schedule;
    std::optional<PlainParcels> parcels;
    std::optional<Execution> execution;
    bool awaits_messages = false;
  };

  static bool is_of_messages(Step::Kind kind) {
    return kind == Step::Kind::complete || kind == Step::Kind::parcels;
  }

  /// One call's steps as far as they go. Whether anything was done.
  bool advance(int rank, std::vector<RankCall>& calls, const Algorithm* algorithm,
               const Reduction& reduction) {
    Rank& own = *ranks_[static_cast<std::size_t>(rank)];
    if (own.next == calls.size()) return false;
    RankCall& call = calls[own.next];
    if (!own.execution) begin(own, call, algorithm, reduction);
    // What has come since then is seen by the wait first.
    if (own.awaits_messages) own.transport->wait(own.execution->step());
    const Step* const before = &own.execution->step();
    const std::size_t begun = own.messenger->begun;
    const Execution::State state = own.execution->advance();
    own.awaits_messages =
        state == Execution::State::waits && is_of_messages(own.execution->step().kind);
    if (state == Execution::State::failed) {
      if (!call.may_fail) throw std::runtime_error(own.execution->error().message);
      call.failure = own.execution->error();
    }
    if (state == Execution::State::differs) throw std::runtime_error("ranks differ");
    if (state == Execution::State::waits) {
      return &own.execution->step() != before || own.messenger->begun != begun;
    }
    if (own.schedule.meets) own.transport->note_meeting();
    own.execution.reset();
    ++own.next;
    return true;
  }

  void begin(Rank& own, RankCall& call, const Algorithm* algorithm, const Reduction& reduction) {
    const std::uint64_t number = own.transport->call() + 1;
    own.transport->begin_program_call(last_below(*algorithm, own.shape));
    own.transport->begin_call(call_note(call.call.operation, number, size_note(call.call)));
    own.schedule = {};
    algorithm->plan(own.shape, call.call, limits(), own.schedule);
    Node& node = nodes_[static_cast<std::size_t>(own.shape.node_index)];
    Buffers buffers;
    buffers.receive = call.receive.data();
    buffers.send = call.is_in_place ? call.receive.data() + call.in_place_offset : call.send.data();
    buffers.stage = node.stages.data() + own.transport->call() % 2 * stage_size_;
    if (moves_parcels(call.call.operation)) buffers.parcels = &own.parcels.emplace(call);
    own.execution.emplace(own.schedule, own.shape, call.call.blocks, buffers, reduction,
                          *own.transport, own.transport->call());
  }

  Layout layout_;
  sim::PostOffice office_;
  std::size_t stage_size_;
  int throttle_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace headrace::collective
