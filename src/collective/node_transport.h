#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collective/schedule.h"
#include "collective/transport.h"
#include "fabric/messenger.h"
#include "fabric/milestones.h"

namespace headrace::collective {

/// Reaches ranks of the node by shared memory, and others by messages.
class NodeTransport final : public Transport {
 public:
  /// `first_tag`: of kTags that messages of this communicator's collective calls have.
  NodeTransport(fabric::Milestones milestones, const fabric::Waiter& waiter, int first_tag);
  static constexpr int kTags = 1 << 14;

  /// The program makes a call, which may be several here; a call that is passed is one, too, so
  /// that all ranks count alike. Each has a tag that those before it had not: whatever messages a
  /// call leaves behind because ranks differ about its size, no later one takes them. `last_below`:
  /// who sends fewer bytes than these, and than are expected, sends nothing in further parts.
  void begin_program_call(std::size_t last_below = 0);

  /// The number of the last call; calls begin with begin_call(), which says `note` of it.
  std::uint64_t call() const { return call_; }
  void begin_call(std::uint64_t note);
  /// A part of the program's call begins; begin_call() includes that.
  void begin_part() { ended_before_ = ended_.size(); }
  /// All ranks of the node have come to the call.
  void note_meeting() { met_ = call_; }
  /// For a call that has failed, whose buffers the program may free then: messages that have not
  /// begun to come are cancelled, others are waited for, some milliseconds.
  void end_messages();
  /// Nothing is done in this call.
  void pass_call();
  /// This rank does nothing more in the call. Others may wait for it to say so.
  void leave_call();
  /// The next begin_call() is of this call once more.
  void repeat_call() { --call_; }
  /// What a rank of the node that has come said of this call.
  std::uint64_t note_of(int node_rank) const { return milestones_.note(node_rank, call_); }

  /// Returns when the step may be done, or after a while.
  void wait(const Step& step);
  /// Lets the library go on with the messages of the program.
  void progress() { waiter_.messenger->progress(); }

  bool is_stage_free() override;
  void reach(std::uint64_t number, fabric::Milestones::Audience audience) override;
  bool has_reached(int node_rank, std::uint64_t number) override;
  bool have_all_reached(std::uint64_t number) override;
  Agreement agreement_with(int node_rank) override;
  Agreement agreement_with_all() override;
  void spoil() override { is_spoilt_ = true; }
  bool is_spoilt() const override { return is_spoilt_; }
  bool tells_spoilt(int node_rank) override;
  Error send(int rank, std::span<const std::byte> bytes) override;
  Error receive(int rank, std::span<std::byte> bytes) override;
  Error receive_all(int rank, std::span<std::byte> bytes) override;
  Error send_parcel(int rank, Parcels::Outgoing parcel) override;
  Error receive_parcel(int rank, const fabric::TypedData& parcel) override;
  bool has_at_most(std::size_t left) override;
  Error take_failure() override { return std::exchange(failure_, Error()); }

 private:
  static constexpr int kAny = -1;
  /// A message that can be used again when it is complete, and what it needs until then.
  struct Place {
    std::unique_ptr<fabric::Message> message;
    std::unique_ptr<std::byte[]> copy;
    int sender = kAny;  ///< of a message of exactly so many bytes
    std::size_t bytes = 0;
    bool has_failed = false;
  };
  Place& next_place();
  void check(const Place& place);
  void stay_near();
  bool look_now_and_then(std::uint64_t number);
  void wait_for_messages();
  void drop_left();
  void keep_failure(Place& place, const Error& error);

  /// Nobody has used a stage of the calls before the first.
  static constexpr std::uint64_t kCallBeforeFirst = 2;
  static constexpr std::uint64_t kNotes = fabric::kMilestoneNotes;

  fabric::Milestones milestones_;
  fabric::Waiter waiter_;
  int first_tag_;
  int tag_;
  std::uint64_t program_call_ = 0;
  std::size_t last_below_ = 0;
  std::vector<int> ended_;  ///< ranks that send nothing in further parts of the program's call
  std::size_t ended_before_ = 0;  ///< so many of them in the part that is made
  bool is_spoilt_ = false;
  std::array<int, 16> left_tags_{};  ///< of the last calls that were spoilt
  std::size_t left_count_ = 0;
  std::uint64_t call_ = kCallBeforeFirst;
  std::uint64_t met_ = 0;
  std::uint64_t near_until_ = kCallBeforeFirst + kNotes;  ///< calls for which there are notes
  std::uint64_t note_ = 0;
  std::vector<Place> places_;  ///< in a ring
  std::size_t first_ = 0;      ///< of those under way
  std::size_t under_way_ = 0;
  Error failure_;
};

}  // namespace headrace::collective
