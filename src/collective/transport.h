#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "collective/parcels.h"
#include "collective/schedule.h"
#include "fabric/milestones.h"

namespace headrace::collective {

/// Of a rank that is sent more than it expects.
inline Error truncation() {
  return {
      ErrorClass::truncated, 0,
      "a rank sends more than its receiver has room for (their counts or datatypes differ), let "
      "both give the same size"};
}

/// Of a rank that gets other data than it expects, or would hand such data on.
inline Error sizes_differ() {
  return {ErrorClass::truncated, 0,
          "ranks differ about the size of the data (the counts or datatypes of a call differ "
          "between them), let all give the same size"};
}

/// The number of a milestone.
constexpr std::uint64_t milestone(std::uint64_t call, std::uint8_t phase) {
  return call * (kLastPhase + 1) + phase;
}
/// The last call of which such a number, or a greater one, is the last phase.
constexpr std::uint64_t call_of(std::uint64_t milestone) {
  return (milestone + 1) / (kLastPhase + 1) - 1;
}

/// What other ranks of a node have said of a call, beside what this rank says.
enum class Agreement {
  same,
  other_size,  ///< they make the same call, of other data
  other_call   ///< or another one, or they leave it to the library
};

/// How a rank reaches the others: by MPI and a node's shared memory, or in a simulation. Nothing
/// here waits.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Whether nobody of the node uses the stage of this call for an earlier one.
  virtual bool is_stage_free() = 0;
  /// Numbers of milestones grow from call to call.
  virtual void reach(std::uint64_t number, fabric::Milestones::Audience audience) = 0;
  virtual bool has_reached(int node_rank, std::uint64_t number) = 0;
  virtual bool have_all_reached(std::uint64_t number) = 0;
  /// With a rank of the node that has come, or with all.
  virtual Agreement agreement_with(int node_rank) = 0;
  virtual Agreement agreement_with_all() = 0;

  /// The data of the call is not what it should be, so that nothing of it may come to the program.
  /// The milestones that this rank reaches from now on tell the others.
  virtual void spoil() = 0;
  virtual bool is_spoilt() const = 0;
  /// Whether a rank of the node that has come has told so.
  virtual bool tells_spoilt(int node_rank) = 0;

  /// To and from ranks of the communicator. The memory must stay until all is complete.
  virtual Error send(int rank, std::span<const std::byte> bytes) = 0;
  /// Of `bytes` at most.
  virtual Error receive(int rank, std::span<std::byte> bytes) = 0;
  /// Of exactly so many: the call is spoilt if others come.
  virtual Error receive_all(int rank, std::span<std::byte> bytes) = 0;
  virtual Error send_parcel(int rank, Parcels::Outgoing parcel) = 0;
  virtual Error receive_parcel(int rank, const fabric::TypedData& parcel) = 0;
  /// Whether all messages but the last `left` are complete, or have failed.
  virtual bool has_at_most(std::size_t left) = 0;
  /// Why the first message failed of those that have since this was asked last.
  virtual Error take_failure() = 0;
};

}  // namespace headrace::collective
