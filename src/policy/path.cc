#include "policy/path.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace headrace::policy {
namespace {

/// Constants of the cost model, measured on 2 cores with ext4 and tmpfs (page cache). One system
/// call on an inode excludes the others, so the calls of all ranks add up; copies run side by side.
struct Costs {
  double system_call;      ///< ns a call, without its bytes
  double file_byte;        ///< ns a byte between page cache and memory, one call at a time
  double copy_byte;        ///< ns a byte between user memory and a slot, on one core
  double copy_piece;       ///< ns a piece copied to or from a slot
  double meeting;          ///< ns until all ranks of a node have met, each with a core
  double meeting_crowded;  ///< the same a rank, where ranks outnumber cores and take turns
};
constexpr Costs kWriteCosts{700, 0.38, 0.25, 3, 3'000, 15'000};
constexpr Costs kReadCosts{400, 0.14, 0.25, 3, 3'000, 15'000};

/// Mean pieces from this size on never gain by staging: a call of their own moves them at the speed
/// of memory.
constexpr ByteCount kLargePieceToWrite = 64 << 10;
constexpr ByteCount kLargePieceToRead = 64 << 10;

/// Staging moves whole windows. Below this share of wanted bytes it is not considered.
constexpr double kLeastDensity = 1.0 / 8;

const Costs& costs_of(Direction direction) {
  return direction == Direction::write ? kWriteCosts : kReadCosts;
}

std::string readable(ByteCount bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
                units[unit]);
  return text.data();
}

}  // namespace

Decision decide_view(Direction direction, Wish wish, const ViewFacts& facts) {
  if (facts.is_atomic) return {Path::direct, "atomic mode: each rank locks what its call touches"};
  if (facts.node_ranks < 2)
    return {Path::direct, "no other rank of the file shares memory with this one"};
  if (!facts.is_monotonic) return {Path::direct, "a view goes backwards in the file"};
  if (wish == Wish::direct) return {Path::direct, "asked for by hint or setting"};
  if (wish == Wish::staged) return {Path::staged, "asked for by hint or setting"};
  const ByteCount large = direction == Direction::write ? kLargePieceToWrite : kLargePieceToRead;
  const std::string pieces = "pieces of " + readable(facts.smallest_mean_piece) + " in the view";
  if (facts.smallest_mean_piece >= large) {
    if (facts.smallest_mean_piece == kContiguousView) {
      return {Path::direct, "the view is contiguous, so nothing is gained by gathering pieces"};
    }
    return {Path::direct, pieces + " are large enough for calls of their own"};
  }
  return {Path::staged, pieces + " are small"};
}

double direct_cost(const CallFacts& facts) {
  const Costs& costs = costs_of(facts.direction);
  return static_cast<double>(facts.pieces) * costs.system_call +
         static_cast<double>(facts.bytes) * costs.file_byte;
}

double staged_cost(const CallFacts& facts) {
  const Costs& costs = costs_of(facts.direction);
  const int workers = std::max(1, std::min(facts.node_ranks, facts.cores));
  const double meeting =
      facts.node_ranks <= facts.cores ? costs.meeting : costs.meeting_crowded * facts.node_ranks;
  const double copy = (static_cast<double>(facts.bytes) * costs.copy_byte +
                       static_cast<double>(facts.pieces) * costs.copy_piece) /
                      workers;
  // Where no bytes are missing a window is one call. Else each stretch of pieces that meet is one.
  const bool has_holes = facts.bytes < facts.span * 9 / 10;
  const double stretches = static_cast<double>(facts.pieces) * facts.stretches_per_piece;
  const auto windows = static_cast<double>(facts.windows);
  const double calls =
      facts.direction == Direction::write && has_holes ? std::max(windows, stretches) : windows;
  const auto moved =
      static_cast<double>(facts.direction == Direction::write ? facts.bytes : facts.span);
  const double file = calls * costs.system_call + moved * costs.file_byte;
  // Copies of some windows overlap the system calls of others, on other cores.
  return meeting + (workers > 1 ? std::max(copy, file) + std::min(copy, file) / 4 : copy + file);
}

CallDecision decide_call(Wish wish, const CallFacts& facts) {
  if (facts.bytes == 0) return {Path::direct, CallReason::nothing_to_move};
  if (wish == Wish::staged) return {Path::staged, CallReason::asked_for};
  const double density = static_cast<double>(facts.bytes) / static_cast<double>(facts.span);
  if (density < kLeastDensity) return {Path::direct, CallReason::far_apart};
  return {staged_cost(facts) < direct_cost(facts) ? Path::staged : Path::direct,
          CallReason::estimated};
}

std::string explain(const CallDecision& decision, const CallFacts& facts) {
  const std::int64_t count = std::max<std::int64_t>(1, facts.pieces);
  const std::string pieces =
      std::to_string(facts.pieces) + " pieces of " + readable(facts.bytes / count);
  std::array<char, 64> times{};
  switch (decision.reason) {
    case CallReason::nothing_to_move: return "nothing to move";
    case CallReason::asked_for: return "asked for by hint or setting";
    case CallReason::far_apart: return pieces + " lie far apart, so windows would be nearly empty";
    case CallReason::estimated: break;
  }
  std::snprintf(times.data(), times.size(), "estimated %.0f us directly, %.0f us staged",
                direct_cost(facts) / 1000, staged_cost(facts) / 1000);
  return pieces + ": " + times.data();
}

}  // namespace headrace::policy
