#pragma once

#include <cstdint>

#include "profile/sampled_thread.h"
#include "record/python_layout.h"

/// Samples by a signal that a timer sends a thread.
namespace headrace::profile {

/// Which clock the timers go by.
enum class TimerClock { cpu, wall };

/// What the handler does.
struct SignalPlan {
  std::size_t stack_size = 0;              ///< bytes of the stack that samples copy at most
  void (*wake)() = nullptr;                ///< called in the handler when a ring is half full
  const record::Python* python = nullptr;  ///< whose frames samples have, too; stays
};

/// The program's forks block the signal. Called before take_signal(), by a thread of the program's:
/// in glibc before 2.36 pthread_atfork and fork wait for each other.
void block_signal_in_forks();

/// Chooses a real-time signal that the program leaves alone, and takes it. Returns its number, 0 if
/// all are in use.
int take_signal(const SignalPlan& plan);

/// Whether the signal is still ours: a program may have taken it since.
bool has_signal();

/// Starts a timer for the thread, whose id and period are set. False if it cannot be had: errno
/// says why.
bool arm(SampledThread& thread, TimerClock clock);
void disarm(SampledThread& thread);

/// While it is off, signals that come do nothing.
void let_signals_sample(bool on);

}  // namespace headrace::profile
