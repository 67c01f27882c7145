#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/rounding.h"
#include "file/collective_transfer.h"
#include "topo/node.h"

// What the ranks of a node tell each other when a collective call begins.

namespace headrace::file {
namespace {

using exchange::Values;

/// What a rank posts at the beginning of a call; the order of its Values.
enum Field : std::size_t {
  kDirection,
  kBegin,
  kEnd,
  kBytes,
  kPieces,
  kGranule,
  kNextWindow,
  kSlotsOffset,
  kWindowSize,
  kSlotCount,
  kFirstPieceEnd,
  kCores,
  kMayLead,
  kPageTransfer,
  kMeasuresDistance,
};
static_assert(kMeasuresDistance < std::tuple_size_v<Values>);

/// Of kDirection. A rank that calls something else, an error of the program, posts other numbers.
constexpr std::int64_t announced(Direction direction) {
  return direction == Direction::write ? 0x7772697465732e2e : 0x72656164732e2e2e;
}

/// Stretches that pieces form together, for each of them. Sorts the pieces.
double stretches_per_piece(std::vector<plan::FileRange>& pieces) {
  if (pieces.empty()) return 1;
  std::ranges::sort(pieces, {}, &plan::FileRange::begin);
  std::size_t stretches = 1;
  FileOffset end = pieces.front().end;
  for (const plan::FileRange& piece : pieces) {
    if (piece.begin > end) ++stretches;
    end = std::max(end, piece.end);
  }
  return static_cast<double>(stretches) / static_cast<double>(pieces.size());
}

std::int64_t pieces_of(const view::Type& type, ByteCount bytes) {
  if (bytes == 0) return 0;
  if (type.is_contiguous()) return 1;
  const ByteCount mean = std::max<ByteCount>(1, type.size() / type.piece_count());
  return divide_up(bytes, mean);
}

}  // namespace

bool CollectiveTransfer::goes_alone(const Access& access, const plan::RankRange& range) {
  policy::CallFacts own;
  own.direction = access.direction;
  own.bytes = access.bytes;
  own.pieces = pieces_of(*access.file.type(), access.bytes);
  own.span = range.end - range.begin;
  own.windows = 1;
  own.is_local = is_local_;
  Choice& choice = this->choice(access.direction);
  const auto decision = policy::decide_part(choice.wish, own);
  if (!decision) return false;
  const std::lock_guard lock(mutex_);
  choice.chosen.facts = own;
  choice.chosen.for_call = *decision;
  choice.chosen.lacked_memory = false;
  return true;
}

bool CollectiveTransfer::may_lead(int node_rank) {
  return channel_.call_board().values_of(node_rank)[kMayLead] == 1;
}

void CollectiveTransfer::announce(const Access& access, const plan::RankRange& range,
                                  const exchange::Waiter& waiter, bool may_exchange) {
  exchange::Control& control = channel_.call_control();
  if (!slots_ && channel_.node_rank() == 0) reserve_slots();
  Values values{};
  values[kDirection] = announced(access.direction);
  values[kBegin] = range.begin;
  values[kEnd] = range.end;
  values[kBytes] = range.bytes;
  values[kNextWindow] = control.staging.next.load(std::memory_order_acquire);
  values[kSlotsOffset] = slots_ ? slots_->memory().offset : -1;
  values[kWindowSize] = geometry_.window_size;
  values[kSlotCount] = geometry_.count;
  values[kCores] = topo::node_cores();
  const int number = channel_.node_rank();
  values[kMayLead] = may_exchange && number > 0 && number < leaders_ && nodes_.may_lead() ? 1 : 0;
  if (number == 0) {
    values[kPageTransfer] = distance_.nanoseconds();
    values[kMeasuresDistance] = !may_exchange && range.bytes > 0 && distance_.is_due() ? 1 : 0;
  }
  if (range.bytes > 0) {
    const view::Type& type = *access.file.type();
    std::int64_t granule = std::gcd(type.granule(), access.file.origin());
    granule = std::gcd(granule, std::gcd(range.begin, range.end));
    values[kPieces] = pieces_of(type, range.bytes);
    values[kGranule] = granule;
    values[kFirstPieceEnd] = range.begin + std::min(access.file.piece_left(), range.bytes);
  }
  channel_.call_board().post(waiter, values);
}

/// Fewer slots where memory is short: large ones were asked for, or other files have the rest. Two
/// suffice to write one while the other is filled.
void CollectiveTransfer::reserve_slots() {
  const auto fewer = [](int count) { return count == 2 ? 0 : std::max(count / 2, 2); };
  exchange::SlotGeometry geometry = geometry_;
  for (; geometry.count > 0; geometry.count = fewer(geometry.count)) {
    const auto memory = channel_.reserve_slots(geometry.bytes());
    if (!memory) continue;
    slots_.emplace(channel_.call_control().staging, *memory, geometry);
    slots_->prepare();
    {
      const std::lock_guard lock(mutex_);
      geometry_ = geometry;
    }
    return;
  }
}

/// The leader's slots and their geometry count: it may have kept them over a change of hints.
void CollectiveTransfer::find_slots(Direction direction, const Values& leader) {
  if (leader[kDirection] != announced(direction)) return;
  {
    const std::lock_guard lock(mutex_);
    geometry_ = {leader[kWindowSize], static_cast<int>(leader[kSlotCount])};
  }
  const std::int64_t offset = leader[kSlotsOffset];
  if (slots_ && slots_->memory().offset == offset) return;
  slots_.reset();
  if (offset < 0) return;
  slots_.emplace(channel_.call_control().staging, channel_.slots_at(offset, geometry_.bytes()),
                 geometry_);
}

CollectiveTransfer::Meeting CollectiveTransfer::meet(Direction direction,
                                                     const exchange::Waiter& waiter) {
  exchange::Board& board = channel_.call_board();
  board.wait_for_all(waiter);
  find_slots(direction, board.values_of(0));
  ranges_.clear();
  first_pieces_.clear();
  policy::CallFacts facts;
  facts.direction = direction;
  facts.node_ranks = board.ranks();
  // The leader's count: some C libraries count only the cores that a rank is bound to.
  facts.cores = static_cast<int>(board.values_of(0)[kCores]);
  facts.page_transfer = board.values_of(0)[kPageTransfer];
  plan::FileRange hull{std::numeric_limits<FileOffset>::max(), 0};
  std::int64_t granule = 0;
  std::int64_t first_window = 0;
  bool agrees = true;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const Values& values = board.values_of(rank);
    if (values[kDirection] != announced(direction)) {
      agrees = false;
      continue;
    }
    // Every rank had finished the calls before this one when it posted, and windows of this one
    // begin when all have: so the largest count posted is where this call's windows begin.
    first_window = std::max(first_window, values[kNextWindow]);
    if (values[kBytes] == 0) continue;
    ranges_.push_back({values[kBegin], values[kEnd], values[kBytes]});
    hull = {std::min(hull.begin, values[kBegin]), std::max(hull.end, values[kEnd])};
    first_pieces_.push_back({values[kBegin], values[kFirstPieceEnd]});
    facts.bytes += values[kBytes];
    facts.pieces += values[kPieces];
    granule = std::gcd(granule, values[kGranule]);
  }
  // Who has no data does not come here.
  const bool has_last = board.values_of(board.ranks() - 1)[kBytes] > 0;
  if (agrees && has_last && board.values_of(0)[kMeasuresDistance] == 1) distance_.measure();
  windows_.set(ranges_, window_size_for(facts, hull.end - hull.begin));
  facts.span = windows_.span();
  facts.windows = windows_.count();
  facts.stretches_per_piece = stretches_per_piece(first_pieces_);
  const int granule_shift =
      std::countr_zero(static_cast<std::uint64_t>(std::gcd(granule, windows_.window_size())));
  const bool may_tile = facts.bytes == hull.end - hull.begin;
  return {facts, hull, granule, first_window, granule_shift, agrees, may_tile};
}

ByteCount CollectiveTransfer::window_size_for(const policy::CallFacts& facts,
                                              ByteCount bytes) const {
  if (agreement_.stripe > 0) return geometry_.window_size;
  const ByteCount least =
      facts.direction == Direction::write ? plan::kLeastWindow : plan::kLeastWindowToRead;
  const int workers = std::min(facts.node_ranks, facts.cores);
  return plan::fitting_window(bytes, std::int64_t{2} * workers, least,
                              std::min(geometry_.window_size, agreement_.node_window));
}

}  // namespace headrace::file
