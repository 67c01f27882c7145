#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "exchange/empty_slot.h"
#include "exchange/exchange_leader.h"
#include "exchange/store_jobs.h"

namespace headrace::exchange {
namespace {

/// A rank's own part. It marks ahead what it wants, as far as there are slots, and then copies its
/// pieces out of window after window. Only the leader knows who owns a window. One cursor serves
/// both steps, since a second one may take memory.
class RankRead {
 public:
  RankRead(const ExchangedCall& call, StagedAccess& access)
      : call_(call),
        access_(access),
        marked_(access.file.position()),
        copied_(marked_),
        to_mark_(call.window_of(access.begin)),
        to_copy_(to_mark_),
        last_(call.window_of(access.end - 1)) {}

  bool is_done() const { return to_copy_ > last_; }
  bool can_mark() const { return to_mark_ <= last_ && call_.slots.has_slot(to_mark_); }
  bool can_copy() const { return to_copy_ < to_mark_ && call_.slots.is_loaded(to_copy_); }

  bool mark_next() {
    if (!can_mark()) return false;
    mark(to_mark_);
    arrive(to_mark_);
    ++to_mark_;
    return true;
  }

  bool copy_next() {
    if (!can_copy()) return false;
    if (outcome_.stop == StagedStop::none) {
      call_.slots.map(to_copy_);
      const FileOffset begin = call_.begin_of(to_copy_);
      access_.file.seek(copied_);
      empty_slot(call_.slots, to_copy_, {begin, begin + call_.window_size}, access_, outcome_);
      copied_ = access_.file.position();
    }
    arrive(to_copy_);
    ++to_copy_;
    return true;
  }

  const StagedOutcome& outcome() const { return outcome_; }

 private:
  void arrive(std::int64_t window) {
    call_.slots.slot(window).arrived.fetch_add(1, std::memory_order_acq_rel);
    call_.event().signal();
  }
  void mark(std::int64_t window);

  const ExchangedCall& call_;
  StagedAccess& access_;
  ByteCount marked_;  ///< the rank's data below is marked
  ByteCount copied_;  ///< the data below is copied
  std::int64_t to_mark_;
  std::int64_t to_copy_;
  std::int64_t last_;
  StagedOutcome outcome_;
};

void RankRead::mark(std::int64_t window) {
  const FileOffset begin = call_.begin_of(window);
  const FileOffset end = std::min(access_.end, begin + call_.window_size);
  plan::Coverage covered = call_.slots.coverage(window, call_.granule_shift);
  access_.file.seek(marked_);
  while (true) {
    const view::StridedRun run = access_.file.next_before(end);
    if (run.count == 0) break;
    covered.mark_strided(run.offset - begin, run.length, run.stride, run.count);
  }
  marked_ = access_.file.position();
}

/// The leader's part in a read. It requests from the owners what the node's ranks marked, and
/// answers other nodes' requests from its own windows, which any rank of the node may load.
class ReadLeader : ExchangeLeader {
 public:
  ReadLeader(const LeaderCall& lead, StagedAccess* access);
  LeaderOutcome run();

 private:
  /// An answer that the leader expects in a buffer.
  struct Answer {
    std::int64_t window = -1;  ///< -1: none
    std::size_t asked = 0;     ///< bytes of the request
  };

  bool step();
  bool ask_next();
  bool ask(std::int64_t window, int owner);
  bool load_next();
  bool answer(const Incoming& incoming);
  bool take_answers();
  void give_up(std::int64_t window);
  void give_up_answers();
  bool take_answer(const Answer& answer, std::span<std::byte> message);
  bool pass_done();
  bool is_over(std::int64_t window);

  bool is_loaded(std::int64_t window) const { return call_.slots.is_loaded(number_of(window)); }
  void set_loaded(std::int64_t window, const PartAnswer& answer);
  /// The buffer that keeps the request for a window until the answer has come.
  MessageBuffers::Buffer& request(std::int64_t window) {
    return lead_.buffers.requests()[call_.slots.index(number_of(window))];
  }

  /// One for each buffer.
  std::span<Answer> answers() { return std::span(answers_).first(lead_.buffers.incoming().size()); }

  std::optional<RankRead> rank_;
  std::int64_t to_ask_ =
      0;  ///< others' windows below are requested, or this node has no part in them
  std::int64_t to_load_ = 0;  ///< own windows below have been added to the windows to load
  std::int64_t to_pass_ = 0;  ///< all windows below have passed on their slots
  std::array<Answer, MessageBuffers::kMaxDepth> answers_;
};

ReadLeader::ReadLeader(const LeaderCall& lead, StagedAccess* access)
    : ExchangeLeader(lead, lead.buffers.received_requests()), to_load_(next_own(0)) {
  if (access != nullptr) rank_.emplace(lead.call, *access);
}

LeaderOutcome ReadLeader::run() {
  // The rank may have bytes in windows of the node's other leaders.
  while (to_pass_ < count() || (rank_ && !rank_->is_done()) || (!has_failed_ && has_sends())) {
    const std::uint32_t seen = call_.event().changes();
    if (exchange_step([this] { return step(); }) || do_store_job(call_, Direction::read)) {
      idle_ = 0;
    } else {
      rest(seen);
    }
  }
  end(WriteStop{0, has_failed_ ? EIO : 0});
  LeaderOutcome outcome;
  outcome.broken = has_failed_;
  if (rank_) outcome.own = rank_->outcome();
  return outcome;
}

bool ReadLeader::step() {
  bool moved = !has_failed_ && reap_sends();
  if (rank_ && (rank_->copy_next() || rank_->mark_next())) moved = true;
  if (load_next()) moved = true;
  if (ask_next()) moved = true;
  if (!has_failed_ &&
      receive_next([this](std::int64_t window) { return has_slot(window) && is_loaded(window); })) {
    moved = true;
  }
  if (take_received([this](const Incoming& incoming) { return answer(incoming); })) moved = true;
  if (!has_failed_ && take_answers()) moved = true;
  if (has_failed_) give_up_answers();
  if (pass_done()) moved = true;
  return moved;
}

bool ReadLeader::ask_next() {
  if (to_ask_ == count()) return false;
  const int owner = lead_.plan.owner_of(to_ask_);
  if (owner != me() && is_mine(to_ask_)) {
    if (!has_slot(to_ask_)) return false;
    if (!lead_.plan.meets(me(), to_ask_)) {
      pass_on(to_ask_);
    } else if (arrived(to_ask_) < ranks_in(to_ask_)) {
      return false;
    } else if (has_failed_) {
      coverage(to_ask_).clear(call_.window_size);
      give_up(to_ask_);
    } else if (!ask(to_ask_, owner)) {
      return false;
    }
  }
  ++to_ask_;
  return true;
}

/// Requests what is marked in a window; false if all buffers for answers are in use.
bool ReadLeader::ask(std::int64_t window, int owner) {
  const auto places = answers();
  const auto place = std::ranges::find(places, -1, &Answer::window);
  if (place == places.end()) return false;
  MessageBuffers::Buffer& asked = request(window);
  plan::Coverage covered = coverage(window);
  const WindowMemory memory = memory_of(window);
  const auto message = asked.room.first(write_request(memory, covered, asked.room));
  covered.clear(call_.window_size);
  const Part part(memory, message);
  if (part.bytes() > 0) {
    MessageBuffers::Buffer& buffer =
        lead_.buffers.incoming()[static_cast<std::size_t>(place - places.begin())];
    if (messenger_.start_receive(
            *buffer.message, call_.channel.tag_of(FileChannel::MessageKind::answer),
            call_.channel.nodes().rank_at(owner, lead_.leader),
            buffer.room.first(sizeof(PartAnswer) + static_cast<std::size_t>(part.bytes())))) {
      return fail(), false;
    }
    *place = {window, message.size()};
  } else {
    set_loaded(window, {memory.begin + memory.size, 0, 0});
  }
  send(FileChannel::MessageKind::part, owner, asked, message.size());
  return !has_failed_;
}

bool ReadLeader::load_next() {
  if (to_load_ == count() || !has_slot(to_load_)) return false;
  const plan::FileRange touched = lead_.plan.windows().touched(to_load_);
  add_store_job(call_, lead_.leader, {number_of(to_load_), touched.begin, touched.end});
  to_load_ = next_own(to_load_ + 1);
  return true;
}

/// Answers a request. Each node gets its answers in the order of its requests, as it expects.
bool ReadLeader::answer(const Incoming& incoming) {
  MessageBuffers::Buffer* const buffer = free_one(lead_.buffers.outgoing());
  if (buffer == nullptr || !is_first(incoming)) return false;
  const Part part(memory_of(incoming.window), incoming.message);
  if (!part.is_request()) return fail(), false;
  if (part.bytes() > 0) {
    const Slot& loaded = slot(incoming.window);
    const PartAnswer head{loaded.valid_end, loaded.system_error, 0};
    std::memcpy(buffer->room.data(), &head, sizeof head);
    const ByteCount moved =
        part.move(Direction::read, loaded.valid_end, buffer->room.data() + sizeof head);
    if (moved < 0) return fail(), false;
    send(FileChannel::MessageKind::answer, incoming.node, *buffer,
         sizeof head + static_cast<std::size_t>(moved));
  }
  of_others(incoming.window) += 1;
  return true;
}

/// Gives a window up: the ranks read those bytes themselves.
void ReadLeader::give_up(std::int64_t window) {
  if (!is_loaded(window)) set_loaded(window, {range(window).begin, EIO, 0});
}

void ReadLeader::give_up_answers() {
  for (Answer& answer : answers()) {
    if (answer.window >= 0) give_up(answer.window);
    answer.window = -1;
  }
}

bool ReadLeader::take_answers() {
  bool took = false;
  for (std::size_t i = 0; i < answers().size(); ++i) {
    if (answers_[i].window < 0) continue;
    MessageBuffers::Buffer& buffer = lead_.buffers.incoming()[i];
    const auto done = buffer.message->is_done();
    if (!done) return fail(), false;
    if (!done.value()) continue;
    if (!take_answer(answers_[i], buffer.room)) return fail(), false;
    answers_[i].window = -1;
    took = true;
  }
  return took;
}

bool ReadLeader::take_answer(const Answer& answer, std::span<std::byte> message) {
  PartAnswer head;
  std::memcpy(&head, message.data(), sizeof head);
  const Part part(memory_of(answer.window), request(answer.window).room.first(answer.asked));
  if (part.move(Direction::write, head.valid_end, message.data() + sizeof head) < 0) return false;
  set_loaded(answer.window, head);
  return true;
}

void ReadLeader::set_loaded(std::int64_t window, const PartAnswer& answer) {
  call_.slots.set_loaded(number_of(window), answer.valid_end, answer.system_error);
  call_.event().signal();
}

/// Whether all ranks and nodes have what they want of a window.
bool ReadLeader::is_over(std::int64_t window) {
  if (!has_slot(window) || !is_loaded(window)) return false;
  // Each rank counts twice: when it has marked and when it has copied.
  if (arrived(window) != 2 * ranks_in(window)) return false;
  if (lead_.plan.owner_of(window) == me()) {
    return window < to_load_ &&
           (has_failed_ || of_others(window) == lead_.plan.parts_of_others(window));
  }
  if (window >= to_ask_) return false;
  if (has_failed_) return true;
  const auto sent = request(window).message->is_done();
  if (!sent) return fail(), false;
  return sent.value();
}

bool ReadLeader::pass_done() {
  bool passed = false;
  for (int place = 0; place < call_.slots.geometry().count; ++place) {
    const std::int64_t window = call_.slots.window_at(place) - lead_.first_window;
    if (window >= count() || !is_mine(window) || !is_over(window)) continue;
    if (lead_.plan.owner_of(window) == me()) coverage(window).clear(call_.window_size);
    request(window).is_free = true;
    of_others(window) = 0;
    pass_on(window);
    passed = true;
  }
  // The window had a slot and has none any more: it was passed on.
  const auto is_passed = [this](std::int64_t window) {
    if (!is_mine(window)) return true;
    const bool had = lead_.plan.owner_of(window) == me() ? window < to_load_ : window < to_ask_;
    return had && !has_slot(window);
  };
  for (; to_pass_ < count() && is_passed(to_pass_); ++to_pass_) passed = true;
  return passed;
}

}  // namespace

StagedOutcome exchanged_read(const ExchangedCall& call, StagedAccess& access) {
  RankRead rank(call, access);
  while (!rank.is_done()) {
    if (rank.copy_next() || rank.mark_next() || do_store_job(call, Direction::read)) continue;
    const record::InPhase phase(record::Phase::wait);
    call.event().wait(call.waiter, [&] {
      return rank.can_copy() || rank.can_mark() || has_store_job(call, Direction::read);
    });
  }
  return rank.outcome();
}

LeaderOutcome lead_exchanged_read(const LeaderCall& call, StagedAccess* access) {
  return ReadLeader(call, access).run();
}

}  // namespace headrace::exchange
