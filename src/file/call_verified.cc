#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "file/call_executor.h"

// Collective writes that other ranks read back (HEADRACE_VERIFY).

namespace headrace::file {

namespace {

/// What verification found and cost on a rank.
struct VerifiedByRank {
  record::Verified verified;

  void combine(const VerifiedByRank& other) {
    record::Verified& into = verified;
    const record::Verified& from = other.verified;
    fabric::keep_greatest(into.nanoseconds, from.nanoseconds);
    fabric::keep_greatest(into.transfer_nanoseconds, from.transfer_nanoseconds);
    fabric::add(into.bytes_read_back, from.bytes_read_back);
    fabric::add(into.bytes_read_alone, from.bytes_read_alone);
    fabric::add(into.bytes_contested, from.bytes_contested);
    fabric::add(into.ranges_wrong, from.ranges_wrong);
    for (std::size_t i = 0; i < into.unverified.size(); ++i) {
      // Each rank counts the collective calls in which it takes part.
      fabric::keep_greatest(into.unverified[i].calls, from.unverified[i].calls);
      fabric::add(into.unverified[i].bytes, from.unverified[i].bytes);
    }
  }
};

}  // namespace

/// Separate, so that calls without HEADRACE_VERIFY do not read the clock.
Outcome CallExecutor::execute_verified(PreparedCall& prepared, const fabric::Waiter& waiter) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const ByteCount reachable = prepared.access.bytes;
  const bool is_alone = prepared.verifies && prepared.locking != Locking::none;
  Access none = no_access(prepared.call.direction);
  Access& written = prepared.written ? *prepared.written : none;
  Verification::Found found;
  Clock::duration checking{};
  const auto on_moved = [&](const Transferred& done) {
    const Clock::time_point then = Clock::now();
    found = verification_->check_alone(written, done.bytes);
    checking = Clock::now() - then;
  };
  CollectiveTransfer::Moved moved =
      is_alone ? move(prepared, waiter, std::ref(on_moved)) : move(prepared, waiter);
  const Error lost =
      end_staging(prepared.staging.get(), prepared.call.direction, moved.transferred);
  transfer_nanoseconds_ += std::chrono::nanoseconds(Clock::now() - begin - checking).count();
  if (prepared.joins_check) {
    const ByteCount bytes = prepared.verifies ? moved.transferred.bytes : 0;
    Verification::Found of_all =
        verification_->check(written, bytes, prepared.in_background, waiter);
    if (prepared.verifies) found = std::move(of_all);
  }
  if (prepared.verifies) {
    moved.transferred.bytes = std::min(moved.transferred.bytes, found.bytes);
  }
  const Error& wrong = lost ? lost : found.error;
  const Outcome outcome = finish(prepared.call, reachable, moved, wrong ? &wrong : nullptr);
  if (!prepared.verifies && prepared.call.direction == Direction::write) {
    independently_written_ += outcome.bytes;
  }
  return outcome;
}

std::optional<record::Verified> CallExecutor::collect_verified() {
  if (!verification_) return std::nullopt;
  VerifiedByRank all{verification_->totals()};
  all.verified.transfer_nanoseconds = transfer_nanoseconds_;
  const auto independent = static_cast<std::size_t>(record::Unverified::independent);
  all.verified.unverified[independent].bytes = independently_written_;
  const VerifiedByRank mine = all;
  // If the ranks cannot be reached, close reports that error.
  return channel_.combine(all) ? mine.verified : all.verified;
}

}  // namespace headrace::file
