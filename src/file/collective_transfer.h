#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exchange/file_channel.h"
#include "exchange/staged_call.h"
#include "fabric/core_distance.h"
#include "file/agreement.h"
#include "file/direct_transfer.h"
#include "file/exchanged_transfer.h"
#include "file/path_choice.h"
#include "plan/windows.h"
#include "policy/path.h"
#include "storage/store.h"

namespace headrace::file {

struct MeetingPost;

/// Chooses the path of each collective call on one file, and executes the call. One thread at a
/// time executes calls or sets agreements: the file's lane, or a thread of the program when the
/// lane is empty. Other threads may ask meanwhile what was chosen.
class CollectiveTransfer {
 public:
  /// Takes all memory that calls within a node need while other ranks wait.
  CollectiveTransfer(exchange::FileChannel& channel, storage::Store& store);
  ~CollectiveTransfer();
  CollectiveTransfer(const CollectiveTransfer&) = delete;
  CollectiveTransfer& operator=(const CollectiveTransfer&) = delete;

  /// Takes over what all ranks have agreed on. Sizes take effect only before the first staged call.
  void set(const Agreement& agreement);
  /// All ranks call this when they have met to open a file; `kind` is that of its file system.
  void get_ready(int kind);
  /// Sets atomic mode. In it, ranks do not meet: each locks what its call touches.
  void set_atomic(bool atomic);

  /// Which path calls take, and why.
  PathChoice& choice(Direction direction) { return direction == Direction::write ? write_ : read_; }
  const PathChoice& choice(Direction direction) const {
    return direction == Direction::write ? write_ : read_;
  }

  struct Moved {
    Transferred transferred;
    policy::Path path = policy::Path::direct;
  };

  /// Collective, for calls in which ranks meet. Waits for the others (`waiter` says how) only if
  /// this rank has data. Moves the cursors.
  Moved transfer(Access& access, ByteCount sieve_size, const fabric::Waiter& waiter,
                 bool is_in_background);

  ByteCount window_size() const;
  /// What was agreed on about which windows nodes own.
  DomainHints domains() const;
  /// What this rank sent to other nodes in exchanged calls.
  exchange::MessageBuffers::Sent sent() const;

 private:
  /// What the ranks of the node posted at the beginning of a call.
  struct Meeting {
    policy::CallFacts facts;
    plan::FileRange hull;
    std::int64_t granule = 0;
    std::int64_t first_window = 0;
    int granule_shift = 0;
    bool agrees = true;     ///< all called in the same direction
    bool may_tile = false;  ///< as many bytes as there are between the first and the last
  };

  void choose();
  /// Whether this rank's part is so small that it does not meet the others.
  bool is_independent(const Access& access, const plan::RankRange& range);
  void reserve_slots();
  void find_slots(Direction direction, const MeetingPost& leader);
  /// Posts what this rank touches; no bytes, if the others need not wait for it.
  void announce(const Access& access, const plan::RankRange& range, const fabric::Waiter& waiter,
                bool may_exchange);
  Meeting meet(Direction direction, const fabric::Waiter& waiter);
  /// Whether a rank of the node that has announced the present call is ready to lead in it.
  bool may_lead(int node_rank);
  ByteCount window_size_for(const policy::CallFacts& facts, ByteCount bytes) const;
  Moved transfer_within_node(Access& access, const plan::RankRange& range, const Meeting& meeting,
                             ByteCount sieve_size, const fabric::Waiter& waiter);
  Moved transfer_between_nodes(Access& access, const plan::RankRange& range, ByteCount sieve_size,
                               const fabric::Waiter& waiter);
  /// Lets the nodes agree. `meeting` is what this node's ranks posted, if this rank has read it.
  ExchangedTransfer::Agreed agree_between_nodes(Direction direction,
                                                std::optional<Meeting>& meeting,
                                                const fabric::Waiter& waiter);
  /// For leaders, and ranks with data.
  Moved exchanged_transfer(Access& access, const plan::RankRange& range,
                           const ExchangedTransfer::Agreed& agreed, ByteCount sieve_size,
                           const fabric::Waiter& waiter);
  NodePart node_part(Direction direction, const Meeting& meeting);
  /// Where a call's cursors stood at its start.
  struct Start {
    explicit Start(const Access& access)
        : file(access.file.position()), memory(access.memory.position()) {}
    ByteCount file;
    ByteCount memory;
  };
  Transferred finish(Access& access, const Start& start, const exchange::StagedOutcome& outcome,
                     ByteCount sieve_size);
  Transferred staged_transfer(Access& access, const plan::RankRange& range, const Meeting& meeting,
                              ByteCount sieve_size, const fabric::Waiter& waiter);

  exchange::FileChannel& channel_;
  storage::Store& store_;
  std::vector<plan::RankRange> ranges_;  ///< of the present call, like the next two
  std::vector<plan::FileRange> first_pieces_;
  plan::Windows windows_;
  mutable std::mutex
      mutex_;  ///< guards the agreement and the geometry against reads by other threads
  Agreement agreement_;
  PathChoice write_{Direction::write};
  PathChoice read_{Direction::read};
  bool is_local_ = false;  ///< the file system is the node's own
  fabric::CoreDistance distance_;
  exchange::SlotGeometry geometry_;
  int leaders_ = 1;  ///< how many ranks of the node get ready to lead
  ExchangedTransfer nodes_;
  exchange::MessageBuffers::Sent sent_;
  std::optional<exchange::Slots> slots_;  ///< as the node's leader reserved them
};

}  // namespace headrace::file
