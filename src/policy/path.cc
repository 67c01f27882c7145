#include "policy/path.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/readable.h"
#include "base/rounding.h"

namespace headrace::policy {
namespace {

/// Staging moves whole windows. If the share of wanted bytes is below this, it is not considered.
constexpr double kLeastDensity = 1.0 / 8;
/// Below this share it is not done even on request: a read would load gigabytes of gaps for a few
/// bytes.
constexpr double kLeastDensityToRead = 1.0 / 1'000;

/// If the share of wanted bytes is below this, windows to write count as full of holes.
constexpr double kLeastFilled = 0.9;

constexpr const char* kAskedFor = "asked for by hint or setting";

/// The extra cost of `bytes` bytes in slots if the ranks' cores are far apart, since they go from
/// core to core.
double distance_cost(const CallFacts& facts, const Costs& costs, double bytes) {
  const PathCosts& cost = costs.of(facts.direction);
  const CommonCosts& common = costs.common;
  const double transfer = std::clamp(static_cast<double>(facts.page_transfer),
                                     common.usual_transfer, cost.longest_transfer);
  const double all = bytes / kPage * (transfer - common.usual_transfer) * cost.page_transfers;
  if (facts.direction == Direction::read) return all;
  return all * std::clamp(common.scattered_piece / facts.mean_piece(), common.least_scattered, 1.0);
}

/// How many ranks can work at the same time.
int workers_of(const CallFacts& facts) {
  return std::max(1, std::min(facts.node_ranks, facts.cores));
}

/// How many ranks can move data between memory and file at the same time.
double movers_of(const CallFacts& facts, const PathCosts& cost) {
  return std::clamp(cost.concurrency, 1.0, static_cast<double>(workers_of(facts)));
}

/// The share of ranks that wait for a core while others work.
double crowded_share(const CallFacts& facts) {
  return 1 - static_cast<double>(workers_of(facts)) / std::max(1, facts.node_ranks);
}

/// The cost of reading pieces together with the gaps, for all ranks one after another; infinite if
/// the gaps are too large.
double together_cost(const CallFacts& facts, const Costs& costs) {
  const PathCosts& read = costs.read;
  const auto bytes = static_cast<double>(facts.bytes);
  const auto pieces = static_cast<double>(std::max<std::int64_t>(1, facts.pieces));
  const double spans = static_cast<double>(facts.span) * facts.node_ranks;
  const double calls = facts.node_ranks * read.call;
  if (facts.mean_piece() < static_cast<double>(kSievedPiece)) {
    return calls + spans * read.window_byte + bytes * read.copy_byte + pieces * read.copy_piece;
  }
  const double gap = (spans - bytes) / pieces;
  if (gap > static_cast<double>(kJoinedGap)) return std::numeric_limits<double>::infinity();
  return calls + spans * costs.common.joined_byte + pieces * costs.common.joined_piece;
}

/// Whether nodes would gain by writing and reading for each other, if they may.
bool gains_between_nodes(PathHint hint, const ViewFacts& facts) {
  if (facts.nodes < 2 || !facts.is_monotonic || facts.is_atomic || !facts.is_one_file) return false;
  const ByteCount domain = facts.stripe > 0 ? facts.stripe : facts.window;
  return hint == PathHint::exchanged ||
         (hint == PathHint::automatic && facts.smallest_mean_piece < domain);
}

ViewReason reason_of(Direction direction, PathHint hint, const ViewFacts& facts) {
  if (facts.is_atomic) return ViewReason::atomic;
  if (!facts.is_one_file) return ViewReason::different_files;
  if (facts.is_coherent && gains_between_nodes(hint, facts)) {
    if (hint == PathHint::exchanged) return ViewReason::exchange_asked_for;
    return facts.stripe > 0 ? ViewReason::small_against_stripes : ViewReason::small_and_shared;
  }
  if (facts.node_ranks < 2) return ViewReason::alone;
  if (!facts.is_monotonic) return ViewReason::backwards;
  if (hint == PathHint::direct) return ViewReason::direct_asked_for;
  if (hint == PathHint::staged || hint == PathHint::exchanged) return ViewReason::staging_asked_for;
  if (facts.smallest_mean_piece == kContiguousView) return ViewReason::contiguous;
  const CommonCosts& common = costs_of(facts.counting(direction)).common;
  const double large =
      direction == Direction::write ? common.large_piece_to_write : common.large_piece_to_read;
  return static_cast<double>(facts.smallest_mean_piece) >= large ? ViewReason::large_pieces
                                                                 : ViewReason::small_pieces;
}

Path path_for(ViewReason reason) {
  switch (reason) {
    case ViewReason::exchange_asked_for:
    case ViewReason::small_against_stripes:
    case ViewReason::small_and_shared: return Path::exchanged;
    case ViewReason::staging_asked_for:
    case ViewReason::small_pieces: return Path::staged;
    default: return Path::direct;
  }
}

std::string text_of(ViewReason reason, const ViewFacts& facts) {
  const auto pieces = [&] {
    return "pieces of " + readable(facts.smallest_mean_piece) + " in the view";
  };
  switch (reason) {
    case ViewReason::atomic: return "atomic mode: each rank locks what its call touches";
    case ViewReason::different_files: return "the ranks have opened different files";
    case ViewReason::small_against_stripes:
      return pieces() + " are small against stripes of " + readable(facts.stripe);
    case ViewReason::small_and_shared:
      return pieces() + " are small for a file system that nodes share";
    case ViewReason::alone: return "no other rank of the file shares memory with this one";
    case ViewReason::backwards: return "a rank's view moves backwards through the file";
    case ViewReason::exchange_asked_for:
    case ViewReason::direct_asked_for:
    case ViewReason::staging_asked_for: return kAskedFor;
    case ViewReason::contiguous:
      return "the view is contiguous, so nothing is gained by gathering pieces";
    case ViewReason::large_pieces: return pieces() + " are large enough for calls of their own";
    case ViewReason::small_pieces: break;
  }
  return pieces() + " are small";
}

}  // namespace

std::string_view name_of(Path path) {
  switch (path) {
    case Path::direct: return "direct";
    case Path::staged: return "staged";
    case Path::exchanged: return "exchanged";
  }
  return {};
}

ViewDecision decide_view(Direction direction, PathHint hint, const ViewFacts& facts) {
  const ViewReason reason = reason_of(direction, hint, facts);
  return {path_for(reason), reason, !facts.is_coherent && gains_between_nodes(hint, facts),
          direction};
}

std::string explain(const ViewDecision& decision, const ViewFacts& facts) {
  const bool is_by_cost =
      decision.reason == ViewReason::large_pieces || decision.reason == ViewReason::small_pieces;
  const std::string text = text_of(decision.reason, facts) +
                           (is_by_cost ? by_profile(facts.counting(decision.direction)) : "");
  if (!decision.is_kept_on_nodes) return text;
  return text +
         "; each node by itself: another's writes might not be seen at once on this file system "
         "(HEADRACE_COHERENT_FS)";
}

double direct_cost(const CallFacts& facts) {
  const Costs& costs = facts.costs();
  const PathCosts& cost = costs.of(facts.direction);
  const auto bytes = static_cast<double>(facts.bytes);
  const auto pieces = static_cast<double>(std::max<std::int64_t>(1, facts.pieces));
  const double first_bytes = std::min(facts.mean_piece(), costs.common.first_bytes);
  const double by_pieces =
      pieces * (cost.call + first_bytes * cost.growth_byte) + bytes * cost.call_byte;
  // On local file systems writes to an inode exclude each other; reads run in parallel.
  if (facts.direction == Direction::write) return by_pieces / movers_of(facts, cost);
  return std::min(by_pieces, together_cost(facts, costs)) / movers_of(facts, cost);
}

double staged_cost(const CallFacts& facts) {
  const Costs& costs = facts.costs();
  const PathCosts& cost = costs.of(facts.direction);
  const auto bytes = static_cast<double>(facts.bytes);
  const auto pieces = static_cast<double>(facts.pieces);
  const auto windows = static_cast<double>(facts.windows);
  const int workers = workers_of(facts);
  const double crowded = crowded_share(facts);
  const double waiting =
      crowded > 0 ? costs.common.crowded_waiting * facts.node_ranks : costs.common.waiting;
  const double slot_byte = cost.window_byte + crowded * cost.crowded_byte;
  const double copy = (bytes * cost.copy_byte + pieces * cost.copy_piece) / workers;
  if (facts.direction == Direction::read) {
    const auto span = static_cast<double>(facts.span);
    const double file =
        windows * cost.window_call + span * slot_byte + distance_cost(facts, costs, span);
    return waiting + copy + file / movers_of(facts, cost);
  }
  // If no bytes are missing, a window takes one call. Otherwise each stretch of adjacent pieces
  // takes one.
  const bool has_holes = bytes < kLeastFilled * static_cast<double>(facts.span);
  const double calls = has_holes ? std::max(windows, pieces * facts.stretches_per_piece) : windows;
  const double file =
      calls * cost.window_call + bytes * slot_byte + distance_cost(facts, costs, bytes);
  // One rank writes a window while others fill the next ones.
  return waiting + (workers > 1 ? std::max(copy, file) + std::min(copy, file) / 4 : copy + file);
}

std::optional<CallDecision> decide_part(PathHint hint, const CallFacts& own) {
  const bool is_small = own.direction == Direction::read && hint == PathHint::automatic &&
                        own.is_local && own.bytes > 0 &&
                        direct_cost(own) <= own.costs().common.meeting_read;
  if (!is_small) return std::nullopt;
  return CallDecision{Path::direct, CallReason::small_part};
}

bool is_too_sparse_to_read(ByteCount bytes, ByteCount span) {
  return static_cast<double>(bytes) < kLeastDensityToRead * static_cast<double>(span);
}

bool are_nearly_empty(std::int64_t windows, ByteCount bytes, ByteCount span) {
  constexpr std::int64_t kFewWindows = 1024;
  constexpr std::int64_t kManyWindows = 1 << 20;
  constexpr ByteCount kLeastInWindow = 512;
  constexpr ByteCount kLeastShare = 64;
  if (windows > kManyWindows) return bytes < span / kLeastShare;
  return windows > kFewWindows && bytes < kLeastInWindow * windows;
}

CallDecision decide_call(PathHint hint, const CallFacts& facts) {
  if (facts.bytes == 0) return {Path::direct, CallReason::nothing_to_move};
  const double density = static_cast<double>(facts.bytes) / static_cast<double>(facts.span);
  if (facts.direction == Direction::read && is_too_sparse_to_read(facts.bytes, facts.span)) {
    return {Path::direct, CallReason::far_apart};
  }
  if (are_nearly_empty(facts.windows, facts.bytes, facts.span)) {
    return {Path::direct, CallReason::far_apart};
  }
  if (hint == PathHint::staged || hint == PathHint::exchanged) {
    return {Path::staged, CallReason::asked_for};
  }
  if (density < kLeastDensity) return {Path::direct, CallReason::far_apart};
  return {staged_cost(facts) < direct_cost(facts) ? Path::staged : Path::direct,
          CallReason::estimated};
}

std::string explain(const CallDecision& decision, const CallFacts& facts) {
  const std::int64_t count = std::max<std::int64_t>(1, facts.pieces);
  const std::string pieces =
      std::to_string(facts.pieces) + " pieces of " + readable(facts.bytes / count);
  std::array<char, 96> times{};
  switch (decision.reason) {
    case CallReason::nothing_to_move: return "nothing to move";
    case CallReason::asked_for: return kAskedFor;
    case CallReason::small_part:
      return pieces + " of a rank are read sooner than ranks could meet" +
             by_profile(facts.counting());
    case CallReason::far_apart: return pieces + " lie far apart, so windows would be nearly empty";
    case CallReason::estimated: break;
  }
  std::snprintf(times.data(), times.size(), "estimated %.0f us directly, %.0f us staged",
                direct_cost(facts) / 1000, staged_cost(facts) / 1000);
  const std::string estimates = pieces + ": " + times.data();
  const std::string source = by_profile(facts.counting());
  if (facts.page_transfer == 0) return estimates + source;
  return estimates + "; cores are " + std::to_string(facts.page_transfer) + " ns a page apart" +
         source;
}

std::string alternatives(const CallDecision& decision, const CallFacts& facts) {
  if (decision.reason == CallReason::nothing_to_move || facts.bytes == 0) return {};
  std::array<char, 96> times{};
  // What a rank decides alone it compares with nothing.
  if (decision.reason == CallReason::small_part) {
    std::snprintf(times.data(), times.size(), "direct %.0f us", direct_cost(facts) / 1000);
  } else {
    std::snprintf(times.data(), times.size(), "direct %.0f us, staged %.0f us",
                  direct_cost(facts) / 1000, staged_cost(facts) / 1000);
  }
  return times.data();
}

}  // namespace headrace::policy
