#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rounding.h"
#include "file/collective_transfer.h"
#include "file/meeting_post.h"
#include "record/call_timer.h"
#include "topo/node.h"

// How the ranks of a node meet when a collective call begins.

namespace headrace::file {
namespace {

/// How many stretches the pieces form together, divided by their number. Sorts the pieces.
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

bool CollectiveTransfer::is_independent(const Access& access, const plan::RankRange& range) {
  policy::CallFacts own;
  own.direction = access.direction;
  own.bytes = access.bytes;
  own.pieces = pieces_of(*access.file.type(), access.bytes);
  own.span = range.end - range.begin;
  own.windows = 1;
  own.is_local = is_local_;
  own.profile = agreement_.profile;
  PathChoice& choice = this->choice(access.direction);
  const auto decision = policy::decide_part(choice.hint(), own);
  if (decision) choice.note_small_part(own, *decision);
  return decision.has_value();
}

bool CollectiveTransfer::may_lead(int node_rank) {
  return channel_.board().posted_by<MeetingPost>(node_rank).may_lead == 1;
}

void CollectiveTransfer::announce(const Access& access, const plan::RankRange& range,
                                  const fabric::Waiter& waiter, bool may_exchange) {
  const record::InPhase phase(record::Phase::meet);
  if (!slots_ && channel_.nodes().node_rank() == 0) reserve_slots();
  MeetingPost post;
  post.direction = announced(access.direction);
  post.begin = range.begin;
  post.end = range.end;
  post.bytes = range.bytes;
  post.next_window = channel_.staging().next.load(std::memory_order_acquire);
  post.slots_offset = slots_ ? slots_->memory().offset : -1;
  post.window_size = geometry_.window_size;
  post.slot_count = geometry_.count;
  post.cores = topo::node_cores();
  const int number = channel_.nodes().node_rank();
  post.may_lead = may_exchange && number > 0 && number < leaders_ && nodes_.may_lead() ? 1 : 0;
  if (number == 0) {
    post.page_transfer = distance_.nanoseconds();
    post.measures_distance = !may_exchange && range.bytes > 0 && distance_.is_due() ? 1 : 0;
  }
  if (range.bytes > 0) {
    const view::Type& type = *access.file.type();
    std::int64_t granule = std::gcd(type.granule(), access.file.origin());
    granule = std::gcd(granule, std::gcd(range.begin, range.end));
    post.pieces = pieces_of(type, range.bytes);
    post.granule = granule;
    post.first_piece_end = range.begin + std::min(access.file.piece_left(), range.bytes);
  }
  channel_.board().post(waiter, post);
}

/// Reserves fewer slots if memory is short, since large ones were requested or other files have the
/// rest. Two are enough to write one while the other is filled.
void CollectiveTransfer::reserve_slots() {
  const auto fewer = [](int count) { return count == 2 ? 0 : std::max(count / 2, 2); };
  exchange::SlotGeometry geometry = geometry_;
  for (; geometry.count > 0; geometry.count = fewer(geometry.count)) {
    const auto memory = channel_.memory().reserve(geometry.bytes());
    if (!memory) continue;
    slots_.emplace(channel_.staging(), *memory, geometry);
    slots_->prepare();
    {
      const std::lock_guard lock(mutex_);
      geometry_ = geometry;
    }
    return;
  }
}

/// Takes the leader's slots and their geometry: the leader may have kept them over a change of
/// hints.
void CollectiveTransfer::find_slots(Direction direction, const MeetingPost& leader) {
  if (leader.direction != announced(direction)) return;
  {
    const std::lock_guard lock(mutex_);
    geometry_ = {leader.window_size, static_cast<int>(leader.slot_count)};
  }
  const std::int64_t offset = leader.slots_offset;
  if (slots_ && slots_->memory().offset == offset) return;
  slots_.reset();
  if (offset < 0) return;
  slots_.emplace(channel_.staging(), channel_.memory().at(offset, geometry_.bytes()), geometry_);
}

CollectiveTransfer::Meeting CollectiveTransfer::meet(Direction direction,
                                                     const fabric::Waiter& waiter) {
  fabric::Board& board = channel_.board();
  {
    const record::InPhase phase(record::Phase::wait);
    board.wait_for_all(waiter);
  }
  const record::InPhase phase(record::Phase::meet);
  const MeetingPost& leader = board.posted_by<MeetingPost>(0);
  find_slots(direction, leader);
  ranges_.clear();
  first_pieces_.clear();
  policy::CallFacts facts;
  facts.direction = direction;
  facts.node_ranks = board.ranks();
  // Take the leader's count: some C libraries count only the cores that a rank is bound to.
  facts.cores = static_cast<int>(leader.cores);
  facts.page_transfer = leader.page_transfer;
  facts.profile = agreement_.profile;
  plan::FileRange hull{std::numeric_limits<FileOffset>::max(), 0};
  std::int64_t granule = 0;
  std::int64_t first_window = 0;
  bool agrees = true;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const auto& post = board.posted_by<MeetingPost>(rank);
    if (post.direction != announced(direction)) {
      agrees = false;
      continue;
    }
    // When a rank posts, it has finished all earlier calls; and this call begins when all have
    // posted. So this call's windows begin at the largest number posted.
    first_window = std::max(first_window, post.next_window);
    if (post.bytes == 0) continue;
    ranges_.push_back({post.begin, post.end, post.bytes});
    hull = {std::min(hull.begin, post.begin), std::max(hull.end, post.end)};
    first_pieces_.push_back({post.begin, post.first_piece_end});
    facts.bytes += post.bytes;
    facts.pieces += post.pieces;
    granule = std::gcd(granule, post.granule);
  }
  // Ranks without data do not come here.
  const bool has_last = board.posted_by<MeetingPost>(board.ranks() - 1).bytes > 0;
  if (agrees && has_last && leader.measures_distance == 1) distance_.measure();
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
