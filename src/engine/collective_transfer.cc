#include "engine/collective_transfer.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "topo/node.h"

namespace headrace::engine {
namespace {

using exchange::Values;
using policy::Path;

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
};
static_assert(kMayLead < std::tuple_size_v<Values>);

/// Of kDirection. A rank that calls something else, an error of the program, posts other numbers.
constexpr std::int64_t announced(Direction direction) {
  return direction == Direction::write ? 0x7772697465732e2e : 0x72656164732e2e2e;
}

/// Data that will have left the caches when a call ends goes past them: more than the third level
/// of today's CPUs holds in one piece, and more than a core's part of it. The C library's answers
/// count the caches of several such pieces together.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank) {
  constexpr ByteCount kThirdLevel = 32 << 20;
  constexpr ByteCount kPerCore = 4 << 20;
  return of_all > kThirdLevel && of_rank > kPerCore ? view::Stores::streaming : view::Stores::usual;
}

/// Limits that belong to a process or a user: the owner of the bytes may have others than the rank
/// that wrote them.
bool depends_on_the_writer(int system_error) {
  return system_error == EFBIG || system_error == EDQUOT || system_error == EACCES ||
         system_error == EPERM;
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

CollectiveTransfer::CollectiveTransfer(exchange::Channel& channel, storage::Store& store)
    : channel_(channel),
      store_(store),
      windows_(static_cast<std::size_t>(channel.node_size())),
      nodes_(channel, store) {
  ranges_.reserve(static_cast<std::size_t>(channel.node_size()));
  first_pieces_.reserve(static_cast<std::size_t>(channel.node_size()));
}

CollectiveTransfer::~CollectiveTransfer() {
  if (slots_ && channel_.node_rank() == 0) channel_.return_slots(slots_->memory());
}

void CollectiveTransfer::set(const Agreement& agreement) {
  const std::lock_guard lock(mutex_);
  if (!slots_) geometry_ = {agreement.window_size, agreement.slot_count};
  const bool is_atomic = agreement_.view.is_atomic;
  agreement_ = agreement;
  agreement_.view.is_atomic = is_atomic;
  choose();
}

void CollectiveTransfer::set_atomic(bool atomic) {
  const std::lock_guard lock(mutex_);
  agreement_.view.is_atomic = atomic;
  choose();
}

CollectiveTransfer::Moved CollectiveTransfer::transfer(Access& access, ByteCount sieve_size,
                                                       const exchange::Waiter& waiter,
                                                       bool is_in_background) {
  note_call(access.direction, false);
  const FileOffset begin = access.bytes > 0 ? access.file.peek() : 0;
  const FileOffset end = access.bytes > 0
                             ? view::offset_of(*access.file.type(), access.file.origin(),
                                               access.file.position() + access.bytes - 1) +
                                   1
                             : 0;
  Choice& choice = this->choice(access.direction);
  if (choice.for_view.path == Path::exchanged) {
    const bool exchanges = meets_between_nodes(access.direction, is_in_background);
    choice.stayed_on_node.store(!exchanges, std::memory_order_relaxed);
    announce(access, begin, end, waiter, exchanges);
    if (exchanges) return transfer_between_nodes(access, begin, end, sieve_size, waiter);
  } else {
    announce(access, begin, end, waiter, false);
  }
  if (access.bytes == 0) return {};
  return transfer_within_node(access, begin, end, meet(access.direction, waiter), sieve_size,
                              waiter);
}

CollectiveTransfer::Moved CollectiveTransfer::transfer_within_node(Access& access, FileOffset begin,
                                                                   FileOffset end,
                                                                   const Meeting& meeting,
                                                                   ByteCount sieve_size,
                                                                   const exchange::Waiter& waiter) {
  if (!meeting.agrees || decide(access.direction, meeting) == Path::direct) {
    return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
  }
  return {staged_transfer(access, begin, end, meeting, sieve_size, waiter), Path::staged};
}

/// Leaders stay also where they have no data: others count on them. Whether ranks that are ready to
/// lead do so, they learn from the first leader.
CollectiveTransfer::Moved CollectiveTransfer::transfer_between_nodes(
    Access& access, FileOffset begin, FileOffset end, ByteCount sieve_size,
    const exchange::Waiter& waiter) {
  const int number = channel_.node_rank();
  const bool leads_first = channel_.is_leader();
  const bool is_ready_to_lead =
      !leads_first && channel_.call_board().values_of(number)[kMayLead] == 1;
  if (!leads_first && !is_ready_to_lead && access.bytes == 0) return {};
  Choice& choice = this->choice(access.direction);
  std::optional<Meeting> meeting;
  ExchangedTransfer::Agreed agreed;
  if (leads_first) {
    meeting.emplace(meet(access.direction, waiter));
    agreed = nodes_.lead(node_part(access.direction, *meeting), meeting->first_window, choice.wish,
                         domains(), slots_ ? &*slots_ : nullptr, waiter);
  } else {
    if (is_ready_to_lead && nodes_.is_wanted(waiter)) {
      meeting.emplace(meet(access.direction, waiter));
      nodes_.prepare(meeting->first_window, choice.wish, domains(), *slots_);
    }
    agreed = nodes_.follow(waiter);
    find_slots(access.direction, channel_.call_board().values_of(0));
  }
  const bool leads = agreed.choice.decision.is_chosen && number < agreed.choice.leading.leaders;
  {
    const std::lock_guard lock(mutex_);
    choice.between_nodes = agreed;
    if (leads_first && correction_ != nodes_.correction()) {
      // A report may lack its text.
      static_cast<void>(attempt([this]() -> Error {
        correction_ = nodes_.correction();
        return {};
      }));
    }
  }
  if (!agreed.choice.decision.is_chosen) {
    if (access.bytes == 0) return {};
    if (choice.for_node.path == Path::direct) {
      return {direct_transfer(store_, std::move(access), sieve_size), Path::direct};
    }
    if (!meeting) meeting.emplace(meet(access.direction, waiter));
    return transfer_within_node(access, begin, end, *meeting, sieve_size, waiter);
  }
  if (!leads && access.bytes == 0) return {};
  const Start start(access);
  exchange::StagedAccess staged{access.file, access.memory, access.buffer,
                                begin,       end,           access.bytes};
  const exchange::StagedOutcome outcome =
      nodes_.move(access.direction, agreed, *slots_, leads ? &windows_ : nullptr,
                  access.bytes > 0 ? &staged : nullptr, waiter);
  {
    const std::lock_guard lock(mutex_);
    sent_ = nodes_.sent();
  }
  if (access.bytes == 0) return {};
  return {finish(access, start, outcome, sieve_size), Path::exchanged};
}

NodePart CollectiveTransfer::node_part(Direction direction, const Meeting& meeting) {
  NodePart part;
  part.bytes = meeting.facts.bytes;
  if (part.bytes > 0) {
    part.begin = meeting.hull.begin;
    part.end = meeting.hull.end;
    part.granule = meeting.granule;
    const auto pieces = static_cast<double>(meeting.facts.pieces);
    part.stretches = static_cast<std::int64_t>(pieces * meeting.facts.stretches_per_piece);
  }
  part.window_size = slots_ ? geometry_.window_size : 0;
  part.places = agreement_.places;
  exchange::Board& board = channel_.call_board();
  const int most = std::min(exchange::kMostLeaders, channel_.node_size());
  while (part.leaders < most && part.window_size > 0 &&
         board.values_of(part.leaders)[kMayLead] == 1) {
    ++part.leaders;
  }
  part.direction = direction == Direction::write ? NodePart::kWrites : NodePart::kReads;
  if (!meeting.agrees) part.direction = NodePart::kNoDirection;
  return part;
}

Path CollectiveTransfer::decide(Direction direction, const Meeting& meeting) {
  const std::lock_guard lock(mutex_);
  Choice& choice = this->choice(direction);
  choice.facts = meeting.facts;
  choice.for_call = policy::decide_call(choice.wish, meeting.facts);
  choice.lacked_memory = !slots_;
  return path_of(choice);
}

void CollectiveTransfer::announce(const Access& access, FileOffset begin, FileOffset end,
                                  const exchange::Waiter& waiter, bool may_exchange) {
  exchange::Control& control = channel_.call_control();
  if (!slots_ && channel_.node_rank() == 0) reserve_slots();
  Values values{};
  values[kDirection] = announced(access.direction);
  values[kBegin] = begin;
  values[kEnd] = end;
  values[kBytes] = access.bytes;
  values[kNextWindow] = control.staging.next.load(std::memory_order_acquire);
  values[kSlotsOffset] = slots_ ? slots_->memory().offset : -1;
  values[kWindowSize] = geometry_.window_size;
  values[kSlotCount] = geometry_.count;
  values[kCores] = topo::node_cores();
  const int number = channel_.node_rank();
  values[kMayLead] = may_exchange && number > 0 && number < leaders_ && nodes_.may_lead() ? 1 : 0;
  if (access.bytes > 0) {
    const view::Type& type = *access.file.type();
    std::int64_t granule = std::gcd(type.granule(), access.file.origin());
    granule = std::gcd(granule, std::gcd(begin, end));
    values[kPieces] = pieces_of(type, access.bytes);
    values[kGranule] = granule;
    values[kFirstPieceEnd] = begin + std::min(access.file.piece_left(), access.bytes);
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

Transferred CollectiveTransfer::staged_transfer(Access& access, FileOffset begin, FileOffset end,
                                                const Meeting& meeting, ByteCount sieve_size,
                                                const exchange::Waiter& waiter) {
  const exchange::StagedCall call{channel_,
                                  waiter,
                                  store_,
                                  *slots_,
                                  windows_,
                                  meeting.first_window,
                                  meeting.granule_shift,
                                  meeting.may_tile,
                                  channel_.is_crowded()};
  const Start start(access);
  exchange::StagedAccess staged{access.file,
                                access.memory,
                                access.buffer,
                                begin,
                                end,
                                access.bytes,
                                stores_for(meeting.facts.bytes, access.bytes)};
  const bool writes = access.direction == Direction::write;
  const exchange::StagedOutcome outcome =
      writes ? exchange::staged_write(call, staged) : exchange::staged_read(call, staged);
  return finish(access, start, outcome, sieve_size);
}

/// Moves what was not moved and may be by this rank's own calls.
Transferred CollectiveTransfer::finish(Access& access, const Start& start,
                                       const exchange::StagedOutcome& outcome,
                                       ByteCount sieve_size) {
  using exchange::StagedStop;
  const bool is_own_affair =
      access.direction == Direction::read || depends_on_the_writer(outcome.system_error);
  const bool moves_rest = outcome.stop == StagedStop::pieces_overlap ||
                          (outcome.stop == StagedStop::failed && is_own_affair);
  if (!moves_rest) return {outcome.bytes, outcome.system_error};
  // This rank's own calls have the last word on its own bytes.
  access.file.seek(start.file + outcome.bytes);
  access.memory.seek(start.memory + outcome.bytes);
  access.bytes -= outcome.bytes;
  const Transferred own = direct_transfer(store_, std::move(access), sieve_size);
  return {outcome.bytes + own.bytes, own.system_error};
}

}  // namespace headrace::engine
