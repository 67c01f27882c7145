#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "file/exchanged_transfer.h"
#include "policy/path.h"
#include "record/decision.h"

namespace headrace::file {

/// How collective calls in one direction go, and why: what was chosen for the view, and by its last
/// call. Safe from several threads.
class PathChoice {
 public:
  explicit PathChoice(Direction direction) : direction_(direction) {}

  /// Chooses for a view. `has_one_owner`: between nodes one of them moves all. `helpers_send`:
  /// whether helper threads may send messages.
  void choose(policy::PathHint hint, const policy::ViewFacts& view, bool has_one_owner,
              bool helpers_send);

  /// Whether ranks meet at the beginning of a call. Where not, a call is this rank's own affair.
  bool meets() const { return meets_.load(std::memory_order_relaxed); }
  /// The same for calls that helper threads carry out.
  bool meets_in_background() const { return meets_in_background_.load(std::memory_order_relaxed); }
  /// Whether calls go between nodes if a thread of the program carries them out, and only then:
  /// helper threads must not send messages here.
  bool needs_the_program() const { return needs_the_program_.load(std::memory_order_relaxed); }

  // For who may carry out calls.

  /// Whether the ranks of all nodes meet in a call; else only those of a node do, if any.
  bool meets_between_nodes(bool is_in_background) const {
    return is_between_nodes() && (!is_in_background || !needs_the_program());
  }
  bool is_between_nodes() const { return chosen_.for_view.path == policy::Path::exchanged; }
  policy::PathHint hint() const { return hint_; }
  /// What the path would be if each node stood alone.
  policy::Path for_node() const { return for_node_; }

  /// Takes note of a call in which ranks do not meet: the caller carries it out itself. The call
  /// may be one that goes on by itself.
  void note_call(bool in_background) {
    if (!chosen_.has_been_called) chosen_.has_been_called = true;
    if (in_background) chosen_.stayed_on_node = true;
  }
  /// Whether a call between nodes stays on its node, since helper threads may send nothing.
  void note_stay(bool stays) { chosen_.stayed_on_node = stays; }
  /// A call of which the rank's part is too small to meet for.
  void note_small_part(const policy::CallFacts& facts, const policy::CallDecision& decision);
  /// What the nodes agreed on.
  void note_agreed(const ExchangedTransfer::Agreed& agreed);
  /// Of the number of aggregators, for the reason, which may lack it without memory.
  void note_correction(const std::string& correction) noexcept;
  /// What the ranks that meet decide from what they posted.
  policy::Path decide(const policy::CallFacts& facts, bool has_slots);

  // What is told: of the last call, or of the next where none was made yet.

  policy::Path path_taken() const;
  std::string reason() const;
  /// All of it, of a file of that name; without a choice where no call was made.
  record::Decision decision(const std::string& file_name) const;
  /// A number that is another one for each path and reason, whatever the numbers in the text.
  std::int64_t kind() const;

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

  /// What was chosen for a view and its last call, and from what.
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

  const Chosen& last() const;
  static bool is_exchanged(const Chosen& chosen);
  static policy::Path path_of(const Chosen& chosen);
  std::string reason_of(const Chosen& chosen) const;
  static std::string reason_within_node(const Chosen& chosen);

  const Direction direction_;
  std::atomic<bool> meets_ = false;
  std::atomic<bool> meets_in_background_ = false;
  std::atomic<bool> needs_the_program_ = false;
  policy::PathHint hint_ = policy::PathHint::automatic;
  policy::Path for_node_ = policy::Path::direct;

  mutable std::mutex mutex_;  ///< guards what follows where other threads ask
  Chosen chosen_;
  std::optional<Chosen> before_;  ///< for the last view with a call
  std::string correction_;
};

}  // namespace headrace::file
