#pragma once

#include <pthread.h>

namespace headrace {

/// Makes a thread of the layer's own beside the program's. Signals are blocked in it, so that the
/// program's handlers run in its own threads; only what a thread causes itself, as SIGSEGV where it
/// copies the program's memory, reaches the handler there. False where none can be had.
bool start_thread(pthread_t& thread, void* (*run)(void*), void* argument);

}  // namespace headrace
