#pragma once

#include <algorithm>

#include "exchange/staged_call.h"
#include "record/call_timer.h"
#include "view/copy.h"

namespace headrace::exchange {

/// Copies a rank's pieces out of a loaded window, which lies at `file`.
inline void empty_slot(const Slots& slots, std::int64_t window, const plan::FileRange& file,
                       StagedAccess& access, StagedOutcome& outcome) {
  const Slot& slot = slots.slot(window);
  const FileOffset end = std::min(access.end, file.end);
  const record::InPhase phase(record::Phase::copy);
  outcome.bytes += access.copy(Direction::read, {slots.bytes(window), file.begin},
                               std::min(end, slot.valid_end), [](const view::StridedRun&) {});
  // The window lacks bytes that the rank wants: nothing after them counts.
  const bool lacks =
      slot.valid_end < end && outcome.bytes < access.bytes && access.file.peek() < end;
  if (!lacks) return;
  if (slot.system_error != 0) {
    outcome.fail(slot.system_error);
  } else {
    outcome.stop = StagedStop::file_ended;
  }
}

}  // namespace headrace::exchange
