#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/exchanged_call.h"
#include "exchange/file_channel.h"
#include "exchange/message_buffers.h"
#include "file/exchange_planner.h"
#include "storage/store.h"

namespace headrace::file {

/// Lets the nodes decide whether they exchange in a call, and then exchange. Every rank of the file
/// has one. The nodes' first leaders meet, and tell the other ranks of their nodes.
class ExchangedTransfer {
 public:
  /// On ranks that may lead, takes the memory for it.
  ExchangedTransfer(exchange::FileChannel& channel, storage::Store& store);

  /// What the nodes have agreed on.
  struct Agreed {
    ExchangeChoice choice;
    std::int64_t known_window = 0;  ///< see exchange::ExchangedCall
    FileOffset known_begin = 0;
  };
  /// Called by a node's first leader; collective over the first leaders. `first_window`: where this
  /// call's windows begin on this node. `slots`: null if there are none.
  Agreed lead(NodePart mine, std::int64_t first_window, policy::PathHint hint,
              const DomainHints& domains, const exchange::Slots* slots,
              const fabric::Waiter& waiter);
  /// Called by the other ranks of a node.
  Agreed follow(const fabric::Waiter& waiter);

  /// For ranks that may lead besides the first: whether this one was able to in earlier calls.
  bool may_lead() const { return !is_broken_ && !lacked_memory_; }
  /// Called before follow() by ranks that have announced that they may lead: waits until the first
  /// leader has decided whether it needs this one. If true, call prepare() next.
  bool is_wanted(const fabric::Waiter& waiter);
  void prepare(std::int64_t first_window, policy::PathHint hint, const DomainHints& domains,
               const exchange::Slots& slots);

  /// Moves the data of a rank; leaders call it without data, too. `ranks`: the windows of the
  /// node's ranks, for leaders.
  exchange::StagedOutcome move(Direction direction, const Agreed& agreed, exchange::Slots& slots,
                               const plan::Windows* ranks, exchange::StagedAccess* access,
                               const fabric::Waiter& waiter);

  /// On first leaders: why the number of aggregators differs from the hints'; empty if it does not.
  const std::string& correction() const { return planner_->correction(); }

  /// What this rank sent to other nodes, as a leader.
  const exchange::MessageBuffers::Sent& sent() { return buffers_.sent(); }

 private:
  void reserve_messages(NodePart& mine, const exchange::Slots* slots, ByteCount stripe);
  policy::ExchangeDecision decide(policy::PathHint hint, const DomainHints& domains,
                                  const exchange::Slots* slots, const fabric::Waiter& waiter);
  bool make_plan(const exchange::Slots* slots, const fabric::Waiter& waiter);
  exchange::LeaderState& state(int leader) const;
  ByteCount reserve_window(ByteCount window_size, int slots, ByteCount stripe);

  exchange::FileChannel& channel_;
  storage::Store& store_;
  // Used by leaders only.
  exchange::MessageBuffers buffers_;
  bool is_broken_ = false;      ///< messages failed, and later ones would
  bool lacked_memory_ = false;  ///< as another leader than the first
  std::int64_t first_window_ = 0;
  std::vector<NodePart> parts_;  ///< of all nodes
  std::vector<NodePart> scratch_;
  std::optional<ExchangePlanner> planner_;
};

}  // namespace headrace::file
