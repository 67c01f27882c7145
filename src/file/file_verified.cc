#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>

#include "file/open_file.h"

// Collective writes that other ranks read back (HEADRACE_VERIFY).

namespace headrace::file {

using exchange::Combine;
using exchange::Values;

/// Without HEADRACE_VERIFY calls take no time to look at the clock.
Outcome OpenFile::carry_out_verified(Prepared& prepared, const exchange::Waiter& waiter) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const ByteCount reachable = prepared.access.bytes;
  const bool is_alone = prepared.verifies && prepared.apart != Apart::no;
  Access none = no_access(prepared.call.direction);
  Access& written = prepared.written ? *prepared.written : none;
  Verification::Found found;
  Clock::duration looking{};
  const auto look = [&](const Transferred& done) {
    const Clock::time_point then = Clock::now();
    found = verification_->check_alone(written, done.bytes);
    looking = Clock::now() - then;
  };
  CollectiveTransfer::Moved moved =
      is_alone ? move(prepared, waiter, std::ref(look)) : move(prepared, waiter);
  const Error lost =
      end_staging(prepared.staging.get(), prepared.call.direction, moved.transferred);
  transfer_nanoseconds_ += std::chrono::nanoseconds(Clock::now() - begin - looking).count();
  if (prepared.attends) {
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

/// Collective: what verifying found and cost on all ranks. Takes no memory: all wait for each.
record::Verified OpenFile::collect_verified() {
  using record::kUnverifiedReasons;
  record::Verified all = verification_->totals();
  const auto independent = static_cast<std::size_t>(record::Unverified::independent);
  all.unverified[independent].bytes = independently_written_;
  std::array<Combine, 6 + 2 * kUnverifiedReasons> ways;
  ways.fill(Combine::sum);
  ways[0] = ways[1] = Combine::max;
  Values values{all.nanoseconds,      transfer_nanoseconds_, all.bytes_read_back,
                all.bytes_read_alone, all.bytes_contested,   all.ranges_wrong};
  for (std::size_t i = 0; i < kUnverifiedReasons; ++i) {
    values[6 + 2 * i] = all.unverified[i].calls;
    values[7 + 2 * i] = all.unverified[i].bytes;
  }
  // Where the ranks cannot be reached, close has that error to tell.
  if (channel_->combine(values, ways)) return all;
  all = {values[0], values[1], values[2], values[3], values[4], values[5], {}};
  for (std::size_t i = 0; i < kUnverifiedReasons; ++i) {
    all.unverified[i] = {values[6 + 2 * i], values[7 + 2 * i]};
  }
  return all;
}

}  // namespace headrace::file
