#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

/// No rank: MPI_PROC_NULL. Ranks of other jobs are kOutside.
inline constexpr std::int64_t kNobody = -3;
inline constexpr std::int64_t kOutside = -2;

/// What the recorder keeps of a communicator of the program.
class RecordedCommunicator {
 public:
  /// Of which nothing is known: there is no memory.
  RecordedCommunicator() = default;
  explicit RecordedCommunicator(MPI_Comm communicator);

  std::uint32_t shape() const { return shape_; }  ///< a note's number
  int rank() const { return rank_; }
  std::int64_t size() const { return size_; }  ///< of the local group
  bool is_inter() const { return is_inter_; }
  std::int64_t receivers() const { return is_inter_ ? remote_size_ : size_; }
  std::int64_t neighbors() const { return neighbors_; }
  /// In MPI_COMM_WORLD.
  std::int64_t in_world(int peer) const noexcept;

 private:
  std::int64_t translate(int peer) const;

  MPI_Comm communicator_{};
  std::uint32_t shape_ = 0xffffffff;
  int rank_ = 0;
  int size_ = 0;
  int remote_size_ = 0;
  bool is_inter_ = false;
  bool is_known_ = false;
  bool is_world_ = false;  ///< its ranks are those of MPI_COMM_WORLD
  std::int64_t neighbors_ = 0;
  mutable std::mutex mutex_;
  mutable std::unordered_map<int, std::int64_t> in_world_;
};

/// Made when it is asked for first, at a call that has succeeded. Lives until the communicator is
/// freed, and stays the calling thread's to use until it asks again.
const RecordedCommunicator& recorded(MPI_Comm communicator) noexcept;

/// The program frees it: its handle may soon be another one's.
void forget(MPI_Comm communicator) noexcept;

inline std::int64_t peer_in_world(int peer, MPI_Comm communicator) noexcept {
  return peer == MPI_PROC_NULL ? kNobody : recorded(communicator).in_world(peer);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
