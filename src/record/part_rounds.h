#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Ranks hand their parts to rank 0 in rounds, so that it holds no more than a bound besides what
/// it keeps.
namespace headrace::record {

/// The ranks that hand theirs over together: from `begin` up to but not `end`.
struct PartRound {
  int begin = 0;
  int end = 0;

  bool has(int rank) const { return begin <= rank && rank < end; }
  bool operator==(const PartRound&) const = default;
};

/// No more than an MPI library can count by an int.
inline constexpr std::int64_t kLargestPart = std::int64_t{1} << 30;

/// Ranks in order, of `sizes` in bytes, so that each round has `most` bytes or a single part.
/// Rounds without bytes are left out.
std::vector<PartRound> rounds_of(std::span<const std::int64_t> sizes, std::int64_t most);

}  // namespace headrace::record
