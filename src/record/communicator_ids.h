#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

namespace headrace::record {

/// A number for each communicator, which all its ranks find alike without a message: from its
/// members, and from how many communicators with the same members were made before. Procedures that
/// make one are called by all members in the same order, unless several threads do. So 0, which
/// says that there is no number, is what all get that other threads than the first one make.
class CommunicatorIds {
 public:
  /// Of MPI_COMM_WORLD. `members`: their numbers in MPI_COMM_WORLD.
  static std::uint64_t world(std::span<const std::int32_t> members) noexcept;
  /// The thread's call has made a communicator.
  std::uint64_t made(std::uint32_t thread, std::span<const std::int32_t> members);

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> made_;  ///< how many, by hash of the members
};

}  // namespace headrace::record
