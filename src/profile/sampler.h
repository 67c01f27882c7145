#pragma once

/// Samples of what the threads of this process do.
namespace headrace::profile {

/// Begins, as the settings say. Does nothing unless the recorder has started. What is in the way is
/// told once, and the program goes on without.
void start_sampling() noexcept;

/// Takes no more samples, and writes down those that were taken. Waits at most some seconds. Does
/// nothing if none are taken, or in a forked child.
void stop_sampling() noexcept;

}  // namespace headrace::profile
