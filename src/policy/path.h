#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "policy/profile.h"

namespace headrace::policy {

/// How the bytes of a collective call go between ranks and file.
enum class Path {
  direct,     ///< each rank moves its own pieces
  staged,     ///< the ranks of a node gather pieces in node-shared memory, in file order
  exchanged,  ///< the same, and one node, the owner, writes or reads each window of the file
};

std::string_view name_of(Path path);

/// What a user asked for. On one node, `exchanged` means `staged`.
enum class PathHint { automatic, direct, staged, exchanged };

/// The mean piece of a view without gaps.
inline constexpr ByteCount kContiguousView = std::numeric_limits<ByteCount>::max();

/// Direct reads read pieces smaller than this many bytes together with the gaps (data sieving).
inline constexpr ByteCount kSievedPiece = 2048;

/// Direct reads read larger pieces by one call if the gaps have at most so many bytes. The gaps go
/// to memory that is never read, which is cheaper than another call.
inline constexpr ByteCount kJoinedGap = 4096;

/// What is known when a view is set. The same on all ranks.
struct ViewFacts {
  int node_ranks = 1;  ///< ranks on this node that share memory
  ByteCount smallest_mean_piece =
      0;  ///< mean bytes of a contiguous piece of a rank's view, the least of all ranks
  bool is_monotonic = true;  ///< all ranks' views
  bool is_atomic = false;    ///< the file is in atomic mode
  int nodes = 1;
  ByteCount stripe = 0;  ///< 0: not known
  ByteCount window = 0;  ///< bytes that a node moves at a time
  /// Nodes see each other's writes at once. If not, no node may write or read for another.
  bool is_coherent = false;
  /// All ranks have the same file. If not, no node may write or read for another.
  bool is_one_file = true;
  const Profile* profile = nullptr;  ///< of the file system; null: the built-in costs count

  /// The profile whose costs count for these pieces; null: the built-in ones do.
  const Profile* counting(Direction direction) const {
    return policy::counting(profile, direction, static_cast<double>(smallest_mean_piece));
  }
  bool may_exchange() const { return nodes > 1 && is_coherent && is_one_file; }
};

/// What the ranks of a node tell each other when a collective call begins.
struct CallFacts {
  Direction direction = Direction::write;
  int node_ranks = 1;
  ByteCount bytes = 0;      ///< of all ranks of the node
  std::int64_t pieces = 0;  ///< contiguous pieces of the file, of all ranks of the node
  ByteCount span = 0;       ///< bytes of the windows that would be staged
  std::int64_t windows = 0;
  /// The number of stretches that the ranks' first pieces form together, divided by that of the
  /// pieces: 1 if none are adjacent, 1/4 if those of four ranks lie side by side. Tells how far
  /// pieces join in a window.
  double stretches_per_piece = 1;
  int cores = 1;
  bool is_local = false;  ///< the file system is local: reads ask no server
  /// Nanoseconds that a page written by one rank's core takes to another rank's; 0: unknown.
  std::int64_t page_transfer = 0;
  const Profile* profile = nullptr;  ///< as in ViewFacts

  double mean_piece() const {
    return static_cast<double>(bytes) / static_cast<double>(pieces > 0 ? pieces : 1);
  }
  /// The profile whose costs count for these pieces; null: the built-in ones do.
  const Profile* counting() const {
    return profile == nullptr ? nullptr : policy::counting(profile, direction, mean_piece());
  }
  /// The costs that count for these pieces. It looks for them: ask once.
  const Costs& costs() const { return costs_of(counting()); }
};

/// Why a view's calls take their path.
enum class ViewReason {
  atomic,
  different_files,
  exchange_asked_for,
  small_against_stripes,
  small_and_shared,
  alone,
  backwards,
  direct_asked_for,
  staging_asked_for,
  contiguous,
  large_pieces,
  small_pieces,
};

/// The choice for a view's calls. Texts are made only on request, since a program may set a view
/// for every call.
struct ViewDecision {
  Path path = Path::direct;
  ViewReason reason = ViewReason::contiguous;
  bool is_kept_on_nodes = false;  ///< nodes would gain by exchanging, but must not
  Direction direction = Direction::write;
};

/// Decides, when a view is set, whether its collective calls may be staged. Only if so do ranks
/// meet at the beginning of a call; with Path::direct no rank waits for another.
ViewDecision decide_view(Direction direction, PathHint hint, const ViewFacts& facts);

std::string explain(const ViewDecision& decision, const ViewFacts& facts);

enum class CallReason { nothing_to_move, asked_for, small_part, far_apart, estimated };

/// The choice for one call.
struct CallDecision {
  Path path = Path::direct;
  CallReason reason = CallReason::nothing_to_move;
};

/// Decides for one rank's part of a call, before ranks meet: a rank that reads little from a local
/// file system reads at once, without meeting. Nothing if it must meet the others. `own`: facts of
/// this rank alone.
std::optional<CallDecision> decide_part(PathHint hint, const CallFacts& own);

/// Whether so few of the bytes between the first and the last are wanted that a read is direct even
/// if another path is requested.
bool is_too_sparse_to_read(ByteCount bytes, ByteCount span);

/// Whether collective buffers for so many windows of a span would hold so few bytes that none are
/// used even if that is requested: each window costs its own time, and messages between nodes.
bool are_nearly_empty(std::int64_t windows, ByteCount bytes, ByteCount span);

/// Decides for one call, by the cheaper of the two estimates.
CallDecision decide_call(PathHint hint, const CallFacts& facts);

std::string explain(const CallDecision& decision, const CallFacts& facts);
/// What either path was estimated at, in microseconds; empty where nothing was to be moved.
std::string alternatives(const CallDecision& decision, const CallFacts& facts);

/// Estimated nanoseconds of a call after the ranks have met, with the data in the page cache.
double direct_cost(const CallFacts& facts);
double staged_cost(const CallFacts& facts);

}  // namespace headrace::policy
