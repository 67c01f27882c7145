#pragma once

/// Counts of the processor's and the kernel's events in all threads of this process.
namespace headrace::profile {

/// Begins, as the settings say. Does nothing unless the recorder has started. What cannot be
/// counted is told once, and the program goes on.
void start_counting() noexcept;

/// Counts no longer, and writes down what was counted. Waits at most some seconds. Does nothing if
/// nothing is counted, or in a forked child.
void stop_counting() noexcept;

}  // namespace headrace::profile
