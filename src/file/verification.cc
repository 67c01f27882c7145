#include "file/verification.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "base/message.h"
#include "fabric/combined.h"
#include "file/agreement.h"
#include "file/written_claims.h"

namespace headrace::file {
namespace {

using fabric::Ring;
using plan::FileRange;

/// How many ranges one query has.
constexpr std::size_t kRangesPerQuery = 5;

/// How many bytes of a call, whose data begins at `first`, lie in a range; bytes that the call has
/// twice count twice. Takes no memory.
ByteCount bytes_within(Access& access, ByteCount first, const FileRange& range) {
  if (access.bytes == 0) return 0;
  const view::Type& type = *access.file.type();
  if (type.is_monotonic()) {
    const auto below = [&](FileOffset offset) {
      return std::clamp(view::data_below(type, access.file.origin(), offset), first,
                        first + access.bytes);
    };
    return below(range.end) - below(range.begin);
  }
  ByteCount bytes = 0;
  access.file.seek(first);
  for (ByteCount left = access.bytes; left > 0;) {
    const view::StridedRun run = access.file.next(left);
    left -= run.bytes();
    for (std::int64_t i = 0; i < run.count; ++i) {
      const FileOffset begin = run.offset + i * run.stride;
      bytes += std::max<ByteCount>(
          0, std::min(range.end, begin + run.length) - std::max(range.begin, begin));
    }
  }
  return bytes;
}

// What ranks tell each other.

/// Where in the node's memory the boxes for pieces lie; -1 if there is no room for them.
struct VerifyOffset {
  std::int64_t offset;
};

struct SetupFacts {
  std::int64_t failure;  ///< code_of() the error
  std::int64_t can_read;
  std::int64_t has_boxes;

  void combine(const SetupFacts& other) {
    fabric::keep_greatest(failure, other.failure);
    fabric::keep_least(can_read, other.can_read);
    fabric::keep_least(has_boxes, other.has_boxes);
  }
};

/// The ranges that one rank asks about; -1 if it has fewer.
struct QueriedRanges {
  std::array<FileOffset, kRangesPerQuery> begin = all_absent();
  std::array<FileOffset, kRangesPerQuery> end = all_absent();

  static constexpr std::array<FileOffset, kRangesPerQuery> all_absent() {
    std::array<FileOffset, kRangesPerQuery> absent{};
    absent.fill(-1);
    return absent;
  }
  void combine(const QueriedRanges& other) {
    for (std::size_t i = 0; i < kRangesPerQuery; ++i) {
      fabric::keep_greatest(begin[i], other.begin[i]);
      fabric::keep_greatest(end[i], other.end[i]);
    }
  }
};

/// For each range of a query: 1 if another rank gave bytes of it, too.
struct Contested {
  std::array<std::int64_t, kRangesPerQuery> is{};

  void combine(const Contested& other) {
    for (std::size_t i = 0; i < kRangesPerQuery; ++i) fabric::keep_greatest(is[i], other.is[i]);
  }
};

std::string text_of(const FileRange& range) {
  return "bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end - 1);
}

}  // namespace

Error Verification::set_up(bool reads, bool nodes_write_for_each_other) {
  nodes_write_for_each_other_ = nodes_write_for_each_other;
  bool can_read = false;
  Error failed = attempt([&]() -> Error {
    auto reader = store_.reopen_to_read();
    // If only this way is closed, the program's own store will do.
    can_read = reader || (reads && reader.error().error_class != ErrorClass::unsupported_operation);
    if (reader) reader_ = std::move(reader.value());
    return {};
  });
  bool has_boxes = true;
  if (channel_.nodes().shares_node() && channel_.nodes().node_count() == 1) {
    fabric::Board& board = channel_.board();
    const auto size = 2 * Ring::kMaxBody * static_cast<std::size_t>(board.ranks());
    if (board.rank() == 0) boxes_ = channel_.memory().reserve(size);
    board.post(channel_.waiter(), VerifyOffset{boxes_ ? boxes_->offset : -1});
    board.wait_for_all(channel_.waiter());
    const std::int64_t offset = board.posted_by<VerifyOffset>(0).offset;
    has_boxes = offset >= 0;
    if (has_boxes && !boxes_) boxes_ = channel_.memory().at(offset, size);
  }
  Error lacking = attempt([this]() -> Error {
    prepare_rings();
    return {};
  });
  if (!failed) failed = std::move(lacking);
  SetupFacts all{code_of(failed), can_read ? 1 : 0, has_boxes ? 1 : 0};
  if (Error error = channel_.combine(all)) return error;
  can_read_ = all.can_read == 1;
  has_boxes_ = all.has_boxes == 1;
  return own_or_others(failed, all.failure, {"prepare to verify", path_});
}

Verification::~Verification() {
  if (boxes_ && channel_.nodes().node_rank() == 0) channel_.memory().give_back(*boxes_);
}

Verification::Found Verification::leave_out(record::Unverified reason, ByteCount written) {
  const auto place = static_cast<std::size_t>(reason);
  const bool is_first = !std::exchange(was_reported_[place], true);
  totals_.unverified[place].bytes += written;
  totals_.unverified[place].calls += 1;
  if (channel_.nodes().rank() != 0 || !is_first) return {written, {}};
  // Without memory for the line, only the report tells it.
  static_cast<void>(attempt([&]() -> Error {
    print_message_once("writes to '" + path_ + "' are not verified (" + record::text_of(reason) +
                       ")");
    return {};
  }));
  return {written, {}};
}

void Verification::prepare_rings() {
  near_ring_ = boxes_ ? fabric::make_node_ring(channel_, *boxes_) : fabric::make_lone_ring();
  message_ring_ = fabric::make_message_ring(channel_);
  claim_.body.reserve(Ring::kMaxBody);
  comparison_.body.reserve(Ring::kMaxBody);
}

Verification::OpenedAnew Verification::open_anew() noexcept {
  try {
    auto opened = store_.reopen_to_read();
    if (opened) return {std::move(opened.value()), 0};
    const Error& error = opened.error();
    if (error.error_class == ErrorClass::unsupported_operation) return {};
    return {nullptr, error.system_error != 0 ? error.system_error : EIO};
  } catch (const std::bad_alloc&) {
    return {nullptr, ENOMEM};
  }
}

Verification::Found Verification::check(Access& access, ByteCount written, bool in_background,
                                        const fabric::Waiter& waiter) {
  using record::Unverified;
  const bool needs_messages = channel_.nodes().node_count() > 1 || !has_boxes_;
  const bool may_send = !in_background || channel_.helpers_send();
  if (!can_read_ || (needs_messages && !may_send)) {
    if (access.direction == Direction::read) return {};
    if (!can_read_) return leave_out(Unverified::cannot_read, written);
    return leave_out(has_boxes_ ? Unverified::cannot_tell_others : Unverified::lacks_memory,
                     written);
  }
  Ring& ring = needs_messages ? *message_ring_ : *near_ring_;
  ring.wait_as(waiter);
  return check_by(ring, needs_messages, {access, written});
}

Verification::Found Verification::check_alone(Access& access, ByteCount written) {
  const std::lock_guard lock(mutex_);
  if (!can_read_) return leave_out(record::Unverified::cannot_read, written);
  const ByteCount before = totals_.bytes_read_back;
  Found found = check_by(*lone_ring_, channel_.nodes().node_count() > 1, {access, written, true});
  totals_.bytes_read_alone += totals_.bytes_read_back - before;
  return found;
}

/// `opens_anew`: opens the file again, so that the reader asks the file system's servers.
Verification::Found Verification::check_by(Ring& ring, bool opens_anew, const Check& what) {
  const auto begin = std::chrono::steady_clock::now();
  Error failed;
  if (opens_anew && what.access.direction == Direction::write) {
    failed = attempt([this] { return store_.sync(); });
  }
  const ByteCount first = what.access.file.position();
  WrittenClaims claims(what.access, what.written);
  RingStatus status;
  Error error = compare(ring, opens_anew, claims, failed, status);
  if (!error && status.has_suspects == 1)
    error = settle_contested(ring, what.access, first, claims);
  Found found = error ? Found{what.written, std::move(error)} : judge(claims, what);
  if (!failed && nodes_write_for_each_other_ && what.written > 0) {
    failed = own_or_others({}, status.failed, {"sync", path_});
  }
  if (!found.error) found.error = std::move(failed);
  totals_.nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return found;
}

/// `failed`: why this rank could not sync. A rank whose messages fail still takes part until all
/// know, since others of its node need it.
Error Verification::compare(Ring& ring, bool opens_anew, WrittenClaims& claims, const Error& failed,
                            RingStatus& all) {
  all = {.has_more = claims.has_more() ? 1 : 0, .failed = code_of(failed)};
  // Once all ranks have combined their status, all have synced.
  if (Error error = ring.combine(all)) return error;
  OpenedAnew anew;
  if (opens_anew && all.has_more == 1) anew = open_anew();
  storage::Store& own_reader = reader_ ? *reader_ : store_;
  // If the file could never be opened anew, the program's own store has to do.
  ReadBack read_back(anew.store ? *anew.store : own_reader, reader_ ? anew.system_error : 0);
  while (all.has_more == 1 && all.is_apart == 0) {
    Error apart = ring.turn(true, claims.next(), claim_);
    if (!apart) apart = ring.turn(false, read_back.judge(claim_), comparison_);
    if (!apart) claims.take_comparison(comparison_);
    all = {.has_more = claims.has_more() ? 1 : 0,
           .has_suspects = claims.suspects().empty() ? 0 : 1,
           .is_apart = apart ? 1 : 0,
           .failed = code_of(failed)};
    if (Error error = ring.combine(all); error || apart) return apart ? apart : error;
  }
  totals_.bytes_read_back += read_back.bytes_read();
  if (all.is_apart == 0) return {};
  return {ErrorClass::other,
          0,
          {"cannot verify what was written to '", path_,
           "' (a message between other ranks failed), see the messages of the MPI library"}};
}

/// Each rank with suspects, in turn, asks the others whether they gave these bytes, too.
Error Verification::settle_contested(Ring& ring, Access& access, ByteCount first,
                                     WrittenClaims& claims) {
  std::vector<Suspect>& suspects = claims.suspects();
  std::size_t asked = 0;
  while (true) {
    // The highest rank that has ranges to ask about; -1: none.
    fabric::Greatest asker{asked < suspects.size() ? channel_.nodes().rank() : -1};
    if (Error error = ring.combine(asker)) return error;
    if (asker.value < 0) return {};
    const bool asks = asker.value == channel_.nodes().rank();
    QueriedRanges ranges;
    const std::size_t count = asks ? std::min(kRangesPerQuery, suspects.size() - asked) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      ranges.begin[i] = suspects[asked + i].range.begin;
      ranges.end[i] = suspects[asked + i].range.end;
    }
    if (Error error = ring.combine(ranges)) return error;
    Contested contested;
    for (std::size_t i = 0; i < kRangesPerQuery; ++i) {
      const FileRange range{ranges.begin[i], ranges.end[i]};
      if (range.begin < 0) continue;
      // A rank's own pieces may overlap, too.
      const ByteCount own = asks ? range.end - range.begin : 0;
      contested.is[i] = bytes_within(access, first, range) > own ? 1 : 0;
    }
    if (Error error = ring.combine(contested)) return error;
    for (std::size_t i = 0; i < count; ++i) suspects[asked + i].is_contested = contested.is[i] == 1;
    asked += count;
  }
}

Verification::Found Verification::judge(WrittenClaims& claims, const Check& what) {
  const Suspect* first = nullptr;
  std::int64_t count = 0;
  for (const Suspect& suspect : claims.suspects()) {
    if (suspect.is_contested && suspect.system_error == 0) {
      totals_.bytes_contested += suspect.range.end - suspect.range.begin;
      continue;
    }
    ++count;
    if (first == nullptr || suspect.position < first->position) first = &suspect;
  }
  if (first == nullptr && claims.lacked_memory()) {
    return {what.written,
            {ErrorClass::no_memory,
             0,
             {"cannot verify what was written to '", path_,
              "' (no memory is left), write less at a time"}}};
  }
  if (first == nullptr) return {what.written, {}};
  totals_.ranges_wrong += count;
  return {first->position, mismatch(*first, count, what.is_alone)};
}

/// The error for `count` wrong ranges, of which `first` is the first.
Error Verification::mismatch(const Suspect& first, std::int64_t count,
                             bool is_alone) const noexcept {
  try {
    const std::string others =
        count > 1 ? " and " + std::to_string(count - 1) + " other ranges" : std::string();
    const std::string where = text_of(first.range) + others + " of '" + path_ + "'";
    if (first.system_error != 0) {
      Error error = system_failure(first.system_error, "cannot read back " + where);
      error.error_class = ErrorClass::io;
      return error;
    }
    return {ErrorClass::io, 0,
            where + " are not what this rank wrote (" +
                (is_alone ? "it read them back under its lock" : "another rank read them back") +
                "), write them again and tell the support staff that the storage loses data"};
  } catch (const std::bad_alloc&) {
    return {ErrorClass::io, first.system_error, {}};
  }
}

}  // namespace headrace::file
