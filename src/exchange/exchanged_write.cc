#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "base/rounding.h"
#include "exchange/exchange_leader.h"
#include "exchange/store_jobs.h"
#include "record/call_timer.h"
#include "view/copy.h"

namespace headrace::exchange {
namespace {

constexpr WriteStop kNoStop{std::numeric_limits<FileOffset>::max(), 0};

/// A rank's own part: it copies its pieces into the slots, window by window.
class RankWrite {
 public:
  RankWrite(const ExchangedCall& call, StagedAccess& access)
      : call_(call),
        access_(access),
        start_(access.file.position()),
        next_(call.window_of(access.begin)),
        last_(call.window_of(access.end - 1)) {}

  bool is_done() const { return next_ > last_; }
  bool can_fill() const { return !is_done() && call_.slots.has_slot(next_); }

  bool fill_next() {
    if (!can_fill()) return false;
    fill(next_);
    call_.slots.slot(next_).arrived.fetch_add(1, std::memory_order_seq_cst);
    call_.event().signal();
    ++next_;
    return true;
  }

  /// After the end of the call.
  StagedOutcome outcome() const { return outcome_of_write(access_, start_, call_.stop()); }

 private:
  void fill(std::int64_t window) {
    call_.slots.map(window);
    const FileOffset begin = call_.begin_of(window);
    plan::Coverage covered = call_.slots.coverage(window, call_.granule_shift);
    const record::InPhase phase(record::Phase::copy);
    access_.copy(Direction::write, {call_.slots.bytes(window), begin},
                 std::min(access_.end, begin + call_.window_size),
                 [&](const view::StridedRun& run) {
                   covered.mark_strided(run.offset - begin, run.length, run.stride, run.count);
                 });
  }

  const ExchangedCall& call_;
  StagedAccess& access_;
  ByteCount start_;
  std::int64_t next_;
  std::int64_t last_;
};

/// The leader's part in a write. It sends its node's parts of other nodes' windows in file order,
/// or joined with an earlier part. Own windows are written when all parts have come; then the
/// leader replies to each other node what became of its parts.
class WriteLeader : ExchangeLeader {
 public:
  WriteLeader(const LeaderCall& lead, StagedAccess* access);
  LeaderOutcome run();

 private:
  using Reply = MessageBuffers::Reply;

  bool step();
  bool pack_next();
  bool pack(std::int64_t window, int owner);
  std::size_t pack_part(std::int64_t window, std::span<std::byte> room);
  bool was_joined(std::int64_t window);
  void lock_next();
  bool add_next();
  /// Whether a window that has a slot has the bytes of all of this node's ranks.
  bool is_filled(std::int64_t window) const { return arrived(window) >= ranks_in(window); }
  void drop(std::int64_t window);
  bool unpack(const Incoming& incoming);
  bool unpack_part(std::int64_t window, std::span<const std::byte> message);
  bool tell_next();
  bool finish_replies();
  bool is_done() const;
  std::int64_t written_below() const;
  WriteStop first_stop() const;

  std::optional<RankWrite> rank_;
  std::int64_t to_pack_ = 0;  ///< others' windows below are sent, or this node has no part in them
  /// Others' windows above to_pack_ that are already sent, joined with one below. A bit for each: a
  /// block has no more than kMaxSlots windows.
  std::uint64_t joined_ = 0;
  std::int64_t to_add_ = 0;   ///< own windows below are added to the windows to write, or written
  std::int64_t to_lock_ = 0;  ///< locks of own windows below have been requested
  std::int64_t jobs_before_;
  std::span<Reply> replies_out_;  ///< to sources_, in their order
  std::span<Reply> replies_in_;   ///< from owners of this node's parts
};

WriteLeader::WriteLeader(const LeaderCall& lead, StagedAccess* access)
    : ExchangeLeader(lead, lead.buffers.incoming()),
      to_add_(next_own(0)),
      to_lock_(lead.lock_ahead ? to_add_ : count()),
      jobs_before_(state().jobs.added.load(std::memory_order_relaxed)) {
  if (access != nullptr) rank_.emplace(lead.call, *access);
  std::ranges::sort(sources_, {}, &Source::last);
  std::size_t owners = 0;
  const int tag = call_.channel.tag_of(FileChannel::MessageKind::answer);
  for (int node = 0; node < lead.plan.nodes(); ++node) {
    if (node == me() || lead.plan.next(me(), node, 0, lead.leader) < 0) continue;
    Reply& reply = lead.buffers.replies_in()[owners++];
    reply.stop = kNoStop;
    const Error failed = messenger_.start_receive(
        *reply.message, tag, call_.channel.nodes().rank_at(node, lead.leader),
        std::as_writable_bytes(std::span(&reply.stop, 1)));
    reply.is_free = static_cast<bool>(failed);
    if (failed) fail();
  }
  replies_in_ = lead.buffers.replies_in().first(owners);
}

LeaderOutcome WriteLeader::run() {
  while (!is_done()) {
    const std::uint32_t seen = call_.event().changes();
    // As long as there are messages to move, the leader leaves writing to other ranks.
    if (exchange_step([this] { return step(); }) || do_store_job(call_, Direction::write)) {
      idle_ = 0;
    } else {
      rest(seen);
    }
  }
  end(has_failed_ ? WriteStop{0, EIO} : first_stop());
  LeaderOutcome outcome;
  outcome.broken = has_failed_;
  // Other leaders of the node may still have windows with this rank's bytes.
  while (!call_.has_ended()) {
    if (do_store_job(call_, Direction::write)) continue;
    const record::InPhase phase(record::Phase::wait);
    call_.event().wait(call_.waiter,
                       [&] { return call_.has_ended() || has_store_job(call_, Direction::write); });
  }
  if (rank_) outcome.own = rank_->outcome();
  return outcome;
}

bool WriteLeader::step() {
  bool moved = !has_failed_ && reap_sends();
  if (rank_ && rank_->fill_next()) moved = true;
  if (pack_next()) moved = true;
  if (!has_failed_ && receive_next([this](std::int64_t window) { return has_slot(window); })) {
    moved = true;
  }
  if (take_received([this](const Incoming& incoming) { return unpack(incoming); })) moved = true;
  if (!has_failed_) lock_next();
  if (add_next()) moved = true;
  if (!has_failed_ && tell_next()) moved = true;
  if (!has_failed_ && finish_replies()) moved = true;
  return moved;
}

/// Sends this node's part of the next window that another node owns, or drops it.
bool WriteLeader::pack_next() {
  if (to_pack_ == count()) return false;
  const int owner = lead_.plan.owner_of(to_pack_);
  if (owner != me() && is_mine(to_pack_) && !was_joined(to_pack_)) {
    if (!has_slot(to_pack_)) return false;
    if (!lead_.plan.meets(me(), to_pack_)) {
      pass_on(to_pack_);
    } else if (!is_filled(to_pack_)) {
      return false;
    } else if (has_failed_) {
      drop(to_pack_);
    } else if (!pack(to_pack_, owner)) {
      return false;
    }
  }
  ++to_pack_;
  return true;
}

/// Sends the part of a window, joined with the next one if the plan says so; false if it must wait.
bool WriteLeader::pack(std::int64_t window, int owner) {
  const std::int64_t joined = lead_.plan.joined_with(me(), window);
  if (joined >= 0 && !(has_slot(joined) && is_filled(joined))) return false;
  MessageBuffers::Buffer* const buffer = free_one(lead_.buffers.outgoing());
  if (buffer == nullptr) return false;
  std::size_t size = pack_part(window, buffer->room);
  if (joined >= 0) {
    const std::size_t begin = round_up(size, kPartAlignment);
    std::ranges::fill(buffer->room.subspan(size, begin - size), std::byte{});
    size = begin + pack_part(joined, buffer->room.subspan(begin));
    joined_ |= std::uint64_t{1} << joined % kMaxSlots;
  }
  send(FileChannel::MessageKind::part, owner, *buffer, size);
  return true;
}

std::size_t WriteLeader::pack_part(std::int64_t window, std::span<std::byte> room) {
  plan::Coverage covered = coverage(window);
  const std::size_t size = write_part(memory_of(window), covered, room);
  covered.clear(call_.window_size);
  pass_on(window);
  return size;
}

/// Whether a window was sent joined with an earlier one. True only once for each.
bool WriteLeader::was_joined(std::int64_t window) {
  const std::uint64_t bit = std::uint64_t{1} << window % kMaxSlots;
  const bool was = (joined_ & bit) != 0;
  joined_ &= ~bit;
  return was;
}

void WriteLeader::drop(std::int64_t window) {
  coverage(window).clear(call_.window_size);
  pass_on(window);
}

bool WriteLeader::unpack(const Incoming& incoming) {
  std::span<const std::byte> parts = incoming.message;
  bool is_ours = unpack_part(incoming.window, split_part(parts));
  if (incoming.joined >= 0) is_ours = is_ours && unpack_part(incoming.joined, split_part(parts));
  if (is_ours && parts.empty()) return true;
  // Our own nodes write valid parts; this rejects a message that is not ours.
  fail();
  return false;
}

bool WriteLeader::unpack_part(std::int64_t window, std::span<const std::byte> message) {
  const Part part(memory_of(window), message);
  plan::Coverage covered = coverage(window);
  if (!part.is_part() || !part.unpack(covered)) return false;
  of_others(window) += 1;
  return true;
}

/// Requests the locks of the next own window as soon as its slot begins to fill.
void WriteLeader::lock_next() {
  to_lock_ = std::max(to_lock_, to_add_);
  if (to_lock_ == count() || !has_slot(to_lock_)) return;
  const plan::FileRange file = range(to_lock_);
  call_.store.lock_ahead(file.begin, file.end);
  to_lock_ = next_own(to_lock_ + 1);
}

/// If all parts of the next own window have come, adds it to the windows to write, or drops it.
bool WriteLeader::add_next() {
  if (to_add_ == count() || !has_slot(to_add_)) return false;
  if (!is_filled(to_add_)) return false;
  if (has_failed_) {
    drop(to_add_);
  } else {
    if (of_others(to_add_) < lead_.plan.parts_of_others(to_add_)) return false;
    of_others(to_add_) = 0;
    const plan::FileRange file = range(to_add_);
    add_store_job(call_, lead_.leader, {number_of(to_add_), file.begin, file.end});
  }
  to_add_ = next_own(to_add_ + 1);
  return true;
}

/// The window below which all own windows are written, or never will be.
std::int64_t WriteLeader::written_below() const {
  StoreJobs& jobs = state().jobs;
  const std::int64_t done = jobs.done.load(std::memory_order_acquire);
  return done == jobs_before_ ? 0 : jobs.job(done - 1).window - lead_.first_window + 1;
}

/// Replies to the next node whose parts are all done.
bool WriteLeader::tell_next() {
  if (replies_out_.size() == sources_.size()) return false;
  const Source& source = sources_[replies_out_.size()];
  if (source.last >= written_below()) return false;
  const record::InPhase phase(record::Phase::send);
  Reply& reply = lead_.buffers.replies_out()[replies_out_.size()];
  replies_out_ = lead_.buffers.replies_out().first(replies_out_.size() + 1);
  reply.stop = kNoStop;
  if (call_.has_failed(lead_.leader) &&
      call_.failure(lead_.leader).window <= number_of(source.last)) {
    reply.stop = call_.failure(lead_.leader).stop;
  }
  if (messenger_.start_send(*reply.message, call_.channel.tag_of(FileChannel::MessageKind::answer),
                            source.rank, std::as_bytes(std::span(&reply.stop, 1)))) {
    return fail(), false;
  }
  reply.is_free = false;
  lead_.buffers.sent().add(1, sizeof reply.stop);
  return true;
}

/// Finishes the replies in both directions, once there is nothing else to wait for.
bool WriteLeader::finish_replies() {
  if (to_pack_ < count()) return false;
  const record::InPhase phase(record::Phase::send);
  bool progressed = false;
  for (const std::span<Reply> replies : {replies_in_, replies_out_}) {
    for (Reply& reply : replies) {
      if (reply.is_free) continue;
      const auto done = reply.message->is_done();
      if (!done) return fail(), false;
      if (!done.value()) continue;
      reply.is_free = true;
      progressed = true;
    }
  }
  return progressed;
}

bool WriteLeader::is_done() const {
  const auto is_over = [](const Reply& reply) { return reply.is_free; };
  const StoreJobs& jobs = state().jobs;
  if (to_pack_ < count() || to_add_ < count() || (rank_ && !rank_->is_done()) ||
      jobs.done.load(std::memory_order_acquire) < jobs.added.load(std::memory_order_relaxed)) {
    return false;
  }
  if (has_failed_) return true;
  return replies_out_.size() == sources_.size() && !has_sends() &&
         std::ranges::all_of(replies_out_, is_over) && std::ranges::all_of(replies_in_, is_over);
}

WriteStop WriteLeader::first_stop() const {
  WriteStop first = call_.has_failed(lead_.leader) ? call_.failure(lead_.leader).stop : kNoStop;
  for (const Reply& reply : replies_in_) {
    if (reply.stop.done_end < first.done_end) first = reply.stop;
  }
  return first;
}

}  // namespace

StagedOutcome exchanged_write(const ExchangedCall& call, StagedAccess& access) {
  RankWrite rank(call, access);
  while (!call.has_ended()) {
    if (rank.fill_next() || do_store_job(call, Direction::write)) continue;
    const record::InPhase phase(record::Phase::wait);
    call.event().wait(call.waiter, [&] {
      return call.has_ended() || rank.can_fill() || has_store_job(call, Direction::write);
    });
  }
  return rank.outcome();
}

LeaderOutcome lead_exchanged_write(const LeaderCall& call, StagedAccess* access) {
  return WriteLeader(call, access).run();
}

}  // namespace headrace::exchange
