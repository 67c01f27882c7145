#include <algorithm>
#include <chrono>

#include "engine/open_file.h"

// Collective writes that other ranks read back (HEADRACE_VERIFY).

namespace headrace::engine {

using exchange::Combine;
using exchange::Values;

Error OpenFile::start_verifying() {
  auto made = Verification::make(*channel_, *store_, mode_.read, path_);
  if (!made) return made.error();
  verification_ = std::move(made.value());
  return {};
}

/// Without HEADRACE_VERIFY calls take no time to look at the clock.
Outcome OpenFile::carry_out_verified(Prepared& prepared, const exchange::Waiter& waiter) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  // The transfer moves the cursors.
  const Access written = prepared.access;
  CollectiveTransfer::Moved moved = move(prepared, waiter);
  transfer_nanoseconds_ += std::chrono::nanoseconds(Clock::now() - begin).count();
  if (!prepared.verifies) return finish(prepared.call, written.bytes, moved);
  const Verification::Found found =
      verification_->check(written, moved.transferred.bytes, prepared.in_background, waiter);
  moved.transferred.bytes = found.bytes;
  return finish(prepared.call, written.bytes, moved, found.error ? &found.error : nullptr);
}

/// Collective: what verifying found and cost on all ranks.
record::Verified OpenFile::collect_verified() {
  record::Verified all = verification_->totals();
  constexpr Combine ways[] = {Combine::max, Combine::max, Combine::sum,
                              Combine::sum, Combine::sum, Combine::sum};
  Values values{all.nanoseconds,     transfer_nanoseconds_, all.bytes_read_back,
                all.bytes_contested, all.ranges_wrong,      all.calls_left_out};
  // Where the ranks cannot be reached, close has that error to tell.
  if (!channel_->combine(values, ways)) {
    all = {values[0], values[1], values[2], values[3], values[4], values[5], {}};
  }
  all.reason_left_out = verification_->reason_left_out();
  return all;
}

}  // namespace headrace::engine
