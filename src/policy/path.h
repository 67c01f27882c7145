#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace headrace::policy {

/// How the bytes of a collective call go between ranks and file.
enum class Path {
  direct,     ///< each rank moves its own pieces
  staged,     ///< the ranks of a node gather them in node-shared memory in file order
  exchanged,  ///< besides, each window of the file is written or read by one node, its owner
};

std::string_view name_of(Path path);

/// What a user asked for. Where there is one node, `exchanged` is as `staged`.
enum class PathHint { automatic, direct, staged, exchanged };

/// Mean piece of a view without gaps.
inline constexpr ByteCount kContiguousView = std::numeric_limits<ByteCount>::max();

/// Direct reads take pieces below this size, in bytes, with what lies between them (data sieving).
inline constexpr ByteCount kSievedPiece = 2048;

/// Larger ones are read by one call where at most so many bytes lie between them, which go to
/// memory that nobody looks at: cheaper than another call.
inline constexpr ByteCount kJoinedGap = 4096;

/// What is known when a view is set, the same on all ranks.
struct ViewFacts {
  int node_ranks = 1;  ///< ranks on this node that share memory
  ByteCount smallest_mean_piece =
      0;                     ///< bytes in a contiguous piece of a rank's view, of all ranks
  bool is_monotonic = true;  ///< all ranks' views
  bool is_atomic = false;    ///< each call's data goes as if alone
  int nodes = 1;
  ByteCount stripe = 0;  ///< 0: not known
  ByteCount window = 0;  ///< bytes that a node moves at a time
  /// Nodes see each other's writes at once; else none may write or read for another.
  bool is_coherent = false;
  /// Else none may write or read for another.
  bool is_one_file = true;

  bool may_exchange() const { return nodes > 1 && is_coherent && is_one_file; }
};

/// What the ranks of a node tell each other when a collective call begins.
struct CallFacts {
  Direction direction = Direction::write;
  int node_ranks = 1;
  ByteCount bytes = 0;      ///< of all ranks of the node
  std::int64_t pieces = 0;  ///< contiguous pieces of the file, of all ranks of the node
  ByteCount span = 0;       ///< bytes of the file windows that would be staged
  std::int64_t windows = 0;
  /// Stretches that the ranks' first pieces form together, for each of these pieces: 1 where none
  /// meet, 1/4 where those of four ranks lie side by side. Tells how far pieces join in a window.
  double stretches_per_piece = 1;
  int cores = 1;
  bool is_local = false;  ///< the file system is the node's own; a rank's reads ask no server
  /// Nanoseconds that a page which one rank's core has written takes to another's; 0: not known.
  std::int64_t page_transfer = 0;
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

/// The choice for a view's calls. Texts are made only when somebody asks: views may be set for
/// every call.
struct ViewDecision {
  Path path = Path::direct;
  ViewReason reason = ViewReason::contiguous;
  bool is_kept_on_nodes = false;  ///< nodes would gain by working for each other, but must not
};

/// Decides when a view is set whether its collective calls may be staged. Only then do ranks meet
/// at the beginning of a call; with Path::direct nobody waits for anybody.
ViewDecision decide_view(Direction direction, PathHint hint, const ViewFacts& facts);

std::string explain(const ViewDecision& decision, const ViewFacts& facts);

enum class CallReason { nothing_to_move, asked_for, small_part, far_apart, estimated };

/// The choice for one call.
struct CallDecision {
  Path path = Path::direct;
  CallReason reason = CallReason::nothing_to_move;
};

/// Decides for one rank's part of a call, before ranks meet: whether it reads so little, from where
/// that asks no server, that it does so at once. Else nothing: they are to meet. `own`: of this
/// rank alone.
std::optional<CallDecision> decide_part(PathHint hint, const CallFacts& own);

/// Whether so few of the bytes between the first and the last are wanted that a read goes directly
/// even where another path is asked for.
bool is_too_sparse_to_read(ByteCount bytes, ByteCount span);

/// Decides for one call, by the cheaper of the two estimates.
CallDecision decide_call(PathHint hint, const CallFacts& facts);

std::string explain(const CallDecision& decision, const CallFacts& facts);
/// What either path was estimated at, in microseconds; empty where nothing was to be moved.
std::string alternatives(const CallDecision& decision, const CallFacts& facts);

/// Estimated time of a call in nanoseconds after the ranks have met, data in the page cache.
double direct_cost(const CallFacts& facts);
double staged_cost(const CallFacts& facts);

}  // namespace headrace::policy
