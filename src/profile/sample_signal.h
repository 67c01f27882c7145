#pragma once

#include <cstdint>

#include "profile/sampled_thread.h"

/// Samples by a signal that a timer sends a thread.
namespace headrace::profile {

/// Which clock the timers go by.
enum class TimerClock { cpu, wall };

/// Chooses a real-time signal that the program leaves alone, and takes it. Returns its number, 0 if
/// all are in use. `stack_size`: bytes of the stack that samples copy at most. `wake` is called in
/// the handler when a ring is half full.
int take_signal(std::size_t stack_size, void (*wake)());

/// Whether the signal is still ours: a program may have taken it since.
bool has_signal();

/// Starts a timer for the thread, whose id and period are set. False if it cannot be had.
bool arm(SampledThread& thread, TimerClock clock);
void disarm(SampledThread& thread);

/// While it is off, signals that come do nothing.
void let_signals_sample(bool on);

}  // namespace headrace::profile
