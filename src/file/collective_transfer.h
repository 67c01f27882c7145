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
#include "plan/windows.h"
#include "policy/path.h"
#include "storage/store.h"

namespace headrace::file {

struct MeetingPost;

/// Chooses the path of each collective call on one file and takes it. One thread at a time carries
/// out calls and takes over agreements: the file's lane, or a thread of the program when the lane
/// is empty. What was chosen may be asked for by other threads meanwhile.
class CollectiveTransfer {
 public:
  /// Takes all memory that calls within a node will take while others wait.
  CollectiveTransfer(exchange::FileChannel& channel, storage::Store& store);
  ~CollectiveTransfer();
  CollectiveTransfer(const CollectiveTransfer&) = delete;
  CollectiveTransfer& operator=(const CollectiveTransfer&) = delete;

  /// Takes over what all ranks have agreed on. Sizes count until the first staged call.
  void set(const Agreement& agreement);
  /// To be called by all ranks when they have met to open a file on such a kind of file system.
  void get_ready(int kind);
  /// In atomic mode ranks do not meet: each locks what its call touches.
  void set_atomic(bool atomic);

  /// Whether ranks meet at the beginning of a call. Where not, a call is this rank's own affair.
  bool meets(Direction direction) const {
    return choice(direction).meets.load(std::memory_order_relaxed);
  }
  /// The same for calls that helper threads carry out.
  bool meets_in_background(Direction direction) const {
    return choice(direction).meets_in_background.load(std::memory_order_relaxed);
  }
  /// Whether calls go between nodes if a thread of the program carries them out, and only then:
  /// helper threads must not send messages here.
  bool needs_the_program(Direction direction) const {
    return choice(direction).needs_the_program.load(std::memory_order_relaxed);
  }
  /// Whether the ranks of all nodes meet in a call; else only those of a node do, if any. For who
  /// may carry out calls.
  bool meets_between_nodes(Direction direction, bool is_in_background) const {
    return choice(direction).chosen.for_view.path == policy::Path::exchanged &&
           (!is_in_background || channel_.helpers_send());
  }
  /// Takes note of a call in which ranks do not meet: the caller carries it out itself. The call
  /// may be one that goes on by itself.
  void note_call(Direction direction, bool in_background) {
    Chosen& chosen = choice(direction).chosen;
    if (!chosen.has_been_called) chosen.has_been_called = true;
    if (in_background) chosen.stayed_on_node = true;
  }

  struct Moved {
    Transferred transferred;
    policy::Path path = policy::Path::direct;
  };

  /// Collective; for calls in which ranks meet. Waits for the others, in the way of `waiter`, only
  /// where this rank has data. Moves the cursors.
  Moved transfer(Access& access, ByteCount sieve_size, const fabric::Waiter& waiter,
                 bool is_in_background);

  /// The path of the last call, or of the next where none was made yet.
  policy::Path path_taken(Direction direction) const;
  std::string reason(Direction direction) const;
  /// Both, of the last call; empty where none was made.
  std::string path_and_reason(Direction direction) const;
  ByteCount window_size() const;
  /// What this rank sent to other nodes for calls that went between them.
  exchange::MessageBuffers::Sent sent() const;

 private:
  /// A flag that calls set without the lock.
  class Flag {
   public:
    Flag() = default;
    Flag(const Flag& other) : is_set_(other) {}
    Flag& operator=(const Flag& other) { return *this = static_cast<bool>(other); }
    Flag& operator=(bool is_set) {
      is_set_.store(is_set, std::memory_order_relaxed);
      return *this;
    }
    operator bool() const { return is_set_.load(std::memory_order_relaxed); }

   private:
    std::atomic<bool> is_set_ = false;
  };

  /// What was chosen in one direction for a view and its last call, and from what.
  struct Chosen {
    policy::ViewFacts view;
    policy::ViewDecision for_view;
    /// Of the last call that might go between nodes.
    std::optional<ExchangedTransfer::Agreed> between_nodes;
    Flag stayed_on_node;         ///< the last such call, as a helper's affair
    bool has_one_owner = false;  ///< between nodes
    std::optional<policy::CallDecision> for_call;
    policy::CallFacts facts;
    bool lacked_memory = false;
    Flag has_been_called;  ///< since the view was set
  };

  struct Choice {
    std::atomic<bool> meets = false;
    std::atomic<bool> meets_in_background = false;
    std::atomic<bool> needs_the_program = false;
    policy::Wish wish = policy::Wish::automatic;
    policy::Path for_node = policy::Path::direct;  ///< what it would be if each node stood alone
    Chosen chosen;
    std::optional<Chosen> before;  ///< for the last view with a call
  };

  /// What the ranks of the node said at the beginning of a call.
  struct Meeting {
    policy::CallFacts facts;
    plan::FileRange hull;
    std::int64_t granule = 0;
    std::int64_t first_window = 0;
    int granule_shift = 0;
    bool agrees = true;     ///< all called in the same direction
    bool may_tile = false;  ///< as many bytes as lie between the first and the last
  };

  Choice& choice(Direction direction) { return choices_[direction == Direction::write ? 0 : 1]; }
  const Choice& choice(Direction direction) const {
    return choices_[direction == Direction::write ? 0 : 1];
  }
  /// For the last call, or for the next where none was made yet.
  static Chosen chosen_last(const Choice& choice);
  static policy::Path path_of(const Chosen& chosen);
  std::string reason_of(const Chosen& chosen) const;
  static std::string reason_within_node(const Chosen& chosen);
  static bool is_exchanged(const Chosen& chosen);
  void choose();
  /// Whether this rank's part is so small that it does not meet the others.
  bool goes_alone(const Access& access, const plan::RankRange& range);
  /// What the ranks that meet decide from what they posted.
  policy::Path decide(Direction direction, const Meeting& meeting);
  void reserve_slots();
  void find_slots(Direction direction, const MeetingPost& leader);
  /// Posts what this rank touches; one that the others need not wait for gives no bytes.
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
  /// What the nodes agree on. `meeting` is what the ranks of this one said, where this rank looked.
  ExchangedTransfer::Agreed agree_between_nodes(Direction direction,
                                                std::optional<Meeting>& meeting,
                                                const fabric::Waiter& waiter);
  void note_agreed(Direction direction, const ExchangedTransfer::Agreed& agreed);
  /// For leaders, and ranks with data.
  Moved exchanged_transfer(Access& access, const plan::RankRange& range,
                           const ExchangedTransfer::Agreed& agreed, ByteCount sieve_size,
                           const fabric::Waiter& waiter);
  NodePart node_part(Direction direction, const Meeting& meeting);
  DomainWish domains() const;
  /// Where a call's cursors stood.
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
  std::vector<plan::RankRange> ranges_;  ///< of the present call, as are the next two
  std::vector<plan::FileRange> first_pieces_;
  plan::Windows windows_;
  mutable std::mutex mutex_;  ///< guards the choices and the geometry where other threads ask
  Agreement agreement_;
  std::array<Choice, 2> choices_;
  bool is_local_ = false;  ///< the file system is the node's own
  fabric::CoreDistance distance_;
  exchange::SlotGeometry geometry_;
  int leaders_ = 1;  ///< ranks of the node that get ready to lead
  ExchangedTransfer nodes_;
  exchange::MessageBuffers::Sent sent_;
  std::string correction_;                ///< of the number of aggregators, as leaders know it
  std::optional<exchange::Slots> slots_;  ///< as the node's leader reserved them
};

}  // namespace headrace::file
