#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "file/exchanged_transfer.h"
#include "policy/path.h"
#include "record/decision.h"

namespace headrace::file {

/// Which path collective calls in one direction take, and why: the choice for the view, and that of
/// the last call. Safe from several threads.
class PathChoice {
 public:
  explicit PathChoice(Direction direction) : direction_(direction) {}

  /// Chooses for a view. `has_one_owner`: if nodes exchange, one of them moves all data.
  /// `helpers_send`: whether helper threads may send messages.
  void choose(policy::PathHint hint, const policy::ViewFacts& view, bool has_one_owner,
              bool helpers_send);

  /// Whether ranks meet at the beginning of a call. If not, each rank executes its part alone.
  bool meets() const { return meets_.load(std::memory_order_relaxed); }
  /// The same for calls that helper threads execute.
  bool meets_in_background() const { return meets_in_background_.load(std::memory_order_relaxed); }
  /// Whether calls are exchanged only if a thread of the program executes them, since helper
  /// threads must not send messages here.
  bool needs_the_program() const { return needs_the_program_.load(std::memory_order_relaxed); }

  // For threads that execute calls.

  /// Whether the ranks of all nodes meet in a call. If not, at most those of a node do.
  bool meets_between_nodes(bool is_in_background) const {
    return is_between_nodes() && (!is_in_background || !needs_the_program());
  }
  bool is_between_nodes() const { return chosen_.for_view.path == policy::Path::exchanged; }
  policy::PathHint hint() const { return hint_; }
  /// The path if each node were alone.
  policy::Path for_node() const { return for_node_; }

  /// Notes a call in which ranks do not meet, which the caller executes itself. `in_background`: a
  /// call that a helper thread executes.
  void note_call(bool in_background) {
    if (!chosen_.has_been_called) chosen_.has_been_called = true;
    if (in_background) chosen_.stayed_on_node = true;
  }
  /// Notes whether a call that could be exchanged stays on its node, since helper threads may not
  /// send.
  void note_stay(bool stays) { chosen_.stayed_on_node = stays; }
  /// Notes a call of which this rank's part is too small to meet for.
  void note_small_part(const policy::CallFacts& facts, const policy::CallDecision& decision);
  /// Notes what the nodes agreed on.
  void note_agreed(const ExchangedTransfer::Agreed& agreed);
  /// Notes a correction of the number of aggregators for the reason's text; without memory the text
  /// lacks it.
  void note_correction(const std::string& correction) noexcept;
  /// Decides for ranks that meet, from what they posted.
  policy::Path decide(const policy::CallFacts& facts, bool has_slots);

  // For reports: about the last call, or about the next if there was none yet.

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

  /// The choices for a view and for its last call, and what they were made from.
  struct Chosen {
    policy::ViewFacts view;
    policy::ViewDecision for_view;
    /// For the last call that could be exchanged.
    std::optional<ExchangedTransfer::Agreed> between_nodes;
    Flag stayed_on_node;  ///< the last such call stayed on its node, since a helper thread executed
                          ///< it
    bool has_one_owner = false;  ///< if nodes exchange
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

  mutable std::mutex mutex_;  ///< guards what follows against reads by other threads
  Chosen chosen_;
  std::optional<Chosen> before_;  ///< for the last view with a call
  std::string correction_;
};

}  // namespace headrace::file
