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

/// Lets the nodes decide whether they exchange in a call, and exchange. On every rank of the file;
/// the nodes' first leaders meet, and tell the others of their node.
class ExchangedTransfer {
 public:
  /// Takes what leading takes on ranks that may lead.
  ExchangedTransfer(exchange::FileChannel& channel, storage::Store& store);

  /// What the nodes have agreed on.
  struct Agreed {
    ExchangeChoice choice;
    std::int64_t known_window = 0;  ///< see exchange::ExchangedCall
    FileOffset known_begin = 0;
  };
  /// The first leader's call, collective among those of the nodes. `first_window`: where this
  /// call's windows begin on this node. `slots`: where there are any.
  Agreed lead(NodePart mine, std::int64_t first_window, policy::PathHint hint,
              const DomainHints& domains, const exchange::Slots* slots,
              const fabric::Waiter& waiter);
  /// The others' call.
  Agreed follow(const fabric::Waiter& waiter);

  /// For ranks that may lead besides the first: whether this one could in earlier calls.
  bool may_lead() const { return !is_broken_ && !lacked_memory_; }
  /// Before follow(), for those who said that they may: waits until the first leader wants to know
  /// whether this one can lead in the call, or does not. Where it returns true, prepare() is to
  /// follow.
  bool is_wanted(const fabric::Waiter& waiter);
  void prepare(std::int64_t first_window, policy::PathHint hint, const DomainHints& domains,
               const exchange::Slots& slots);

  /// Moves the data of a rank; leaders call it without data as well. `ranks`: of the node, for
  /// leaders.
  exchange::StagedOutcome move(Direction direction, const Agreed& agreed, exchange::Slots& slots,
                               const plan::Windows* ranks, exchange::StagedAccess* access,
                               const fabric::Waiter& waiter);

  /// A first leader's: why there are not as many aggregators as hints ask for; empty where there
  /// are.
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
  // A leader's.
  exchange::MessageBuffers buffers_;
  bool is_broken_ = false;      ///< messages failed, and later ones would
  bool lacked_memory_ = false;  ///< to lead besides the first
  std::int64_t first_window_ = 0;
  std::vector<NodePart> parts_;  ///< of all nodes
  std::vector<NodePart> scratch_;
  std::optional<ExchangePlanner> planner_;
};

}  // namespace headrace::file
