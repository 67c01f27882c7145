#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exchange/channel.h"
#include "exchange/exchanged_call.h"
#include "exchange/message_buffers.h"
#include "plan/aggregators.h"
#include "plan/exchange_plan.h"
#include "policy/exchange.h"
#include "storage/store.h"

namespace headrace::engine {

/// A node's part in a call that may go between nodes, as its leader tells the others.
struct NodePart {
  FileOffset begin = 0;
  FileOffset end = 0;
  ByteCount bytes = 0;
  std::int64_t stretches = 0;  ///< that its ranks' pieces form together, estimated
  std::int64_t granule = 0;
  ByteCount window_size = 0;  ///< of its collective buffers; 0: it has none
  std::int64_t places = 1;    ///< aggregators that it may have
  std::int64_t direction = 0;
  static constexpr std::int64_t kNoDirection = -1;  ///< its ranks do not agree
};

/// Which windows nodes own, as all ranks have agreed.
struct DomainWish {
  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorWish aggregators;
  ByteCount stripe = 0;           ///< 0: not known, windows shrink with the call
  std::int64_t stripe_count = 0;  ///< 0: not known
};

/// Lets the nodes decide whether they exchange in a call, and exchange. On every rank of the file;
/// the leaders meet, and tell the others of their node. A leader that lacks memory takes part: what
/// meeting needs was taken before, and what the plan needs is taken before all agree to exchange.
class ExchangedTransfer {
 public:
  /// Takes what the leaders need to meet.
  ExchangedTransfer(exchange::Channel& channel, storage::Store& store);

  /// What the nodes have agreed on.
  struct Agreed {
    policy::ExchangeDecision decision;
    policy::ExchangeFacts facts;
    std::int64_t known_window = 0;  ///< see exchange::ExchangedCall
    FileOffset known_begin = 0;
    int granule_shift = 0;
  };
  /// The leader's call, collective among leaders. `first_window`: where this call's windows begin
  /// on this node.
  Agreed lead(NodePart mine, std::int64_t first_window, policy::Wish wish,
              const DomainWish& domains);
  /// The others' call.
  Agreed follow(const exchange::Waiter& waiter);

  /// Moves the data of a rank; a leader calls it without data as well. `ranks`: of the node, for
  /// the leader.
  exchange::StagedOutcome move(Direction direction, const Agreed& agreed, exchange::Slots& slots,
                               const plan::Windows* ranks, exchange::StagedAccess* access,
                               const exchange::Waiter& waiter);

  /// Whether messages failed, as a leader knows: windows of that call keep their slots.
  bool is_broken() const { return is_broken_; }

  /// What this rank sent to other nodes, as a leader.
  const exchange::MessageBuffers::Sent& sent() { return buffers_.sent(); }

 private:
  /// What follows alike from all nodes' parts, on every leader.
  Agreed agree(policy::Wish wish, const DomainWish& domains);
  void prepare(const Agreed& agreed, const DomainWish& domains);
  plan::Owners owners(const DomainWish& domains) const;

  exchange::Channel& channel_;
  storage::Store& store_;
  // The leader's.
  exchange::MessageBuffers buffers_;
  bool is_broken_ = false;  ///< messages failed: slots are not as they should be
  std::int64_t first_window_ = 0;
  std::vector<NodePart> parts_;  ///< of all nodes, in the present call, as are the next two
  std::vector<plan::RankRange> ranges_;
  plan::Windows windows_;
  std::vector<NodePart> scratch_;
  std::optional<plan::ExchangePlan> plan_;
};

}  // namespace headrace::engine
