#pragma once

#include <atomic>
#include <cstdint>

/// Whether the program wants to be recorded now. It may switch that off and on, from any thread,
/// before MPI runs, too.
namespace headrace::record {

/// While it is off, calls are followed as ever, since what they begin may end when it is on again,
/// but they are not counted.
extern std::atomic<bool> is_switched_off;

/// Returns what it was.
bool switch_recording(bool on) noexcept;

/// The clock of recording: ticks, less those for which recording was off.
std::int64_t recorded_ticks() noexcept;

/// Recording begins at `begin`, in ticks: what was before does not count.
void begin_recorded_ticks(std::int64_t begin) noexcept;

}  // namespace headrace::record
