#include "record/message_waits.h"

#include <algorithm>
#include <ctime>
#include <new>
#include <optional>
#include <span>

#include "record/extent_items.h"

namespace headrace::record {
namespace {

constexpr std::uint64_t kAtATime = 16;                         // calls
constexpr std::int64_t kAtLeastEvery = std::int64_t{1} << 29;  // ticks
constexpr int kMostSearches = 1024;
constexpr int kSearchWithoutImage = 64;  // counts as so many
constexpr std::int64_t kShort = 8192;    // ticks
constexpr int kLastAttempts = 20;
constexpr timespec kBetweenAttempts{0, 100'000};
constexpr std::size_t kMostCommunicators = 4096;
constexpr std::size_t kMostPosted = 1024;

/// The log of a rank; null if there is none.
const MessageLog* log_of(const std::array<MessageLog, MessageLogs::kMost>& logs,
                         std::int32_t rank) {
  const auto found = std::ranges::find_if(logs, [rank](const MessageLog& one) {
    return one.peer.load(std::memory_order_acquire) == std::int64_t{rank} + 1;
  });
  return found == logs.end() ? nullptr : &*found;
}

/// A free one, for a rank; null if there is none.
MessageLog* take_log(std::array<MessageLog, MessageLogs::kMost>& logs, std::int32_t rank) {
  for (MessageLog& one : logs) {
    if (one.peer.load(std::memory_order_relaxed) != 0) continue;
    one.peer.store(std::int64_t{rank} + 1, std::memory_order_release);
    return &one;
  }
  return nullptr;
}

}  // namespace

MessageWaits::MessageWaits(ImageFile& image, MessageLogs& logs, std::int32_t rank)
    : image_(image),
      logs_(logs),
      rank_(rank),
      images_(image),
      tables_(image),
      calls_(std::make_unique<std::array<Call, kPending>>()) {}

std::unique_ptr<MessageWaits> MessageWaits::make(ImageFile& image, std::int32_t rank) {
  auto* const logs =
      take_logs<MessageLogs>(image, ExtentKind::message_logs, image.header().message_logs);
  return std::unique_ptr<MessageWaits>(logs == nullptr ? nullptr
                                                       : new MessageWaits(image, *logs, rank));
}

void MessageWaits::know(std::uint64_t id, std::vector<std::int32_t> members) noexcept {
  try {
    const std::lock_guard lock(members_mutex_);
    if (members_.size() < kMostCommunicators) members_[id] = std::move(members);
  } catch (const std::bad_alloc&) {
    stop();
  }
}

/// -1 if it is not known.
std::int64_t MessageWaits::rank_of(std::uint64_t communicator, int member) {
  const std::lock_guard lock(members_mutex_);
  const auto members = members_.find(communicator);
  if (members == members_.end() || member < 0) return -1;
  const auto place = static_cast<std::size_t>(member);
  return place < members->second.size() ? members->second[place] : -1;
}

bool MessageWaits::follows(std::uint32_t thread) noexcept {
  if (is_stopped_.load(std::memory_order_relaxed)) return false;
  if (thread_.is(thread)) return true;
  stop();
  return false;
}

/// Null for a rank of another job, and without room.
MessageWaits::Peer* MessageWaits::peer_of(std::int64_t rank) {
  if (last_peer_ != nullptr && last_peer_->rank == rank) return last_peer_;
  if (rank < 0) return nullptr;
  std::unique_ptr<Peer>& peer = peers_[rank];
  if (peer == nullptr) {
    peer = std::make_unique<Peer>();
    peer->rank = static_cast<std::int32_t>(rank);
  }
  return last_peer_ = peer.get();
}

/// The messages of a call that is not counted are dropped with it.
void MessageWaits::note(const Message& message) {
  Call& call = (*calls_)[begun_ % kPending];
  if (message.peer == nullptr || message.key == 0 || call.count == Call::kMost) {
    call.is_unknown = true;
  } else {
    call.messages[call.count++] = message;
  }
}

void MessageWaits::sent(std::uint32_t thread, std::uint64_t communicator, std::int64_t to, int tag,
                        std::int64_t begin, Sending how) noexcept {
  if (!follows(thread)) return;
  try {
    Peer* const peer = communicator == 0 ? nullptr : peer_of(to);
    std::uint64_t key = 0;
    if (peer != nullptr) {
      key = counts_.next(MessageCounts::Way::sent, peer->rank, communicator, tag);
      if (key == 0) return stop();
      if (peer->sent == nullptr) peer->sent = take_log(logs_.sent, peer->rank);
      if (peer->sent != nullptr) peer->sent->add(key, begin);
    }
    if (how != Sending::by_itself) note({peer, key, begin, true, how == Sending::surely});
  } catch (const std::bad_alloc&) {
    stop();
  }
}

std::uint64_t MessageWaits::posted(std::uint32_t thread, const Envelope& wanted) noexcept {
  if (wanted.communicator == 0 || !follows(thread)) return 0;
  try {
    if (posted_.size() < kMostPosted) {
      posted_.push_back({++last_posted_, wanted});
      return last_posted_;
    }
  } catch (const std::bad_alloc&) {
    // As if there were too many.
  }
  stop();
  return 0;
}

/// Takes a receive that is complete from those that are posted. False if an earlier one could have
/// taken its message.
bool MessageWaits::forget_posted(const Envelope& envelope, std::uint64_t number) {
  const auto could_take = [&](const Envelope& wanted) {
    return wanted.communicator == envelope.communicator &&
           (wanted.from < 0 || wanted.from == envelope.from) &&
           (wanted.tag < 0 || wanted.tag == envelope.tag);
  };
  for (auto each = posted_.begin(); each != posted_.end(); ++each) {
    if (each->number == number) {
      posted_.erase(each);
      return true;
    }
    if (could_take(each->wanted)) return false;
  }
  return number == 0;
}

void MessageWaits::received(std::uint32_t thread, const Envelope& envelope, std::int64_t ticks,
                            std::uint64_t number) noexcept {
  if (!follows(thread)) return;
  try {
    Peer* peer = nullptr;
    std::uint64_t key = 0;
    if (envelope.communicator != 0) {
      if (!forget_posted(envelope, number)) return stop();
      peer = peer_of(rank_of(envelope.communicator, envelope.from));
    }
    if (peer != nullptr) {
      key = counts_.next(MessageCounts::Way::received, peer->rank, envelope.communicator,
                         envelope.tag);
      if (key == 0) return stop();
      if (peer->posted == nullptr) peer->posted = take_log(logs_.posted, peer->rank);
      if (peer->posted != nullptr) peer->posted->add(key, ticks);
    }
    note({peer, key, ticks, false, true});
  } catch (const std::bad_alloc&) {
    stop();
  }
}

void MessageWaits::note_unknown(std::uint32_t thread) noexcept {
  if (follows(thread)) (*calls_)[begun_ % kPending].is_unknown = true;
}

void MessageWaits::end_call(std::uint32_t thread, const Row& row, std::int64_t begin,
                            std::int64_t end, Needs needs) noexcept {
  if (!follows(thread)) return;
  Call& call = (*calls_)[begun_ % kPending];
  if (call.count == 0 && !call.is_unknown) return;
  const auto messages = std::span(call.messages).first(call.count);
  if (end - begin < kShort && std::ranges::all_of(messages, &Message::is_sent)) {
    tables_.count(thread, row, end - begin, {0, end - begin, -1});
    begin_call();
    return;
  }
  call.row = &row;
  call.begin = begin;
  call.end = end;
  call.needs = needs;
  begun_ += 1;
  if (begun_ % kAtATime == 0 || end - judged_at_ > kAtLeastEvery) {
    judged_at_ = end;
    judge(false);
  }
  begin_call();
}

/// The next one, without messages.
void MessageWaits::begin_call() noexcept {
  Call& call = (*calls_)[begun_ % kPending];
  call.count = 0;
  call.is_unknown = false;
}

/// The peer's log of messages to or from this rank. It may not have one yet; one on another node
/// never has.
const MessageLog* MessageWaits::find_log(Peer& peer, bool of_sent) {
  const MessageLog*& found = of_sent ? peer.their_sent : peer.their_posted;
  if (found != nullptr || peer.searches == kMostSearches) return found;
  if (peer.theirs == nullptr) peer.theirs = images_.message_logs(peer.rank);
  if (peer.theirs != nullptr) {
    found = log_of(of_sent ? peer.theirs->sent : peer.theirs->posted, rank_);
  }
  if (found == nullptr) {
    peer.searches =
        std::min(kMostSearches, peer.searches + (peer.theirs == nullptr ? kSearchWithoutImage : 1));
  }
  return found;
}

/// When the other rank began to send, or posted the receive.
std::optional<std::int64_t> MessageWaits::find(const Message& message) {
  Peer& peer = *message.peer;
  const MessageLog* const log = find_log(peer, !message.is_sent);
  if (log == nullptr) return std::nullopt;
  return log->find(message.key, message.is_sent ? peer.posted_place : peer.sent_place);
}

/// False if it is not known yet.
bool MessageWaits::judge_call(Call& call, bool gives_up) {
  const std::int64_t took = call.end - call.begin;
  Judged judged{{call.needs == Needs::one ? took : 0, 0, -1}, Awaited::sender, 0, 0};
  bool is_open = call.is_unknown;
  for (std::size_t i = 0; i < call.count; ++i) {
    const Message& message = call.messages[i];
    const std::optional<std::int64_t> when = find(message);
    if (!when && !gives_up && message.peer->searches < kMostSearches) return false;
    if (when) {
      add_message(judged, call, message, *when);
    } else {
      is_open = true;
    }
  }
  if (call.row->procedure == kNone) return true;  // recording was off
  image_.header().matched += judged.matched;
  image_.header().early += judged.early;
  if (call.needs == Needs::nothing) return true;
  WaitBounds& wait = judged.wait;
  if (wait.awaited < 0 || (is_open && call.needs == Needs::one)) wait.least = 0;
  wait.most = is_open ? took : std::max(wait.most, wait.least);
  if (tables_.count(thread_.number(), *call.row, took, wait) && wait.least > 0) {
    tables_.count_awaited(wait.awaited, judged.kind, wait.least);
  }
  return true;
}

/// `when`: the other rank began to send, or posted the receive. A call that ended before the
/// receive was posted did not wait for it.
void MessageWaits::add_message(Judged& judged, const Call& call, const Message& message,
                               std::int64_t when) {
  const std::int64_t took = call.end - call.begin;
  const bool can_be = !message.is_sent || when <= call.end;
  const std::int64_t late = can_be ? std::clamp<std::int64_t>(when - call.begin, 0, took) : 0;
  WaitBounds& wait = judged.wait;
  if (!message.is_sent) {
    judged.matched += 1;
    judged.early += when < message.posted ? 1 : 0;
  }
  if (!message.is_sure) {
    wait.most = std::max(wait.most, late);
    return;
  }
  const bool is_better = call.needs == Needs::one ? late < wait.least : late > wait.least;
  if (is_better || wait.awaited < 0) {
    wait.least = late;
    wait.awaited = message.peer->rank;
    judged.kind = message.is_sent ? Awaited::receiver : Awaited::sender;
  }
}

/// A call whose place is needed soon is given up.
void MessageWaits::judge(bool gives_up) noexcept {
  try {
    while (judged_ < begun_) {
      const bool is_old = begun_ - judged_ + 2 * kAtATime > kPending;
      if (!judge_call((*calls_)[judged_ % kPending], gives_up || is_old)) return;
      judged_ += 1;
    }
  } catch (const std::bad_alloc&) {
    stop();
  }
}

void MessageWaits::finish() noexcept {
  if (is_stopped_.load(std::memory_order_relaxed)) return;
  for (int attempt = 0; attempt < kLastAttempts && judged_ < begun_; ++attempt) {
    if (attempt > 0) nanosleep(&kBetweenAttempts, nullptr);
    judge(attempt + 1 == kLastAttempts);
  }
}

}  // namespace headrace::record
