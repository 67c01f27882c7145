#pragma once

#include <pthread.h>

namespace headrace {

/// Makes a thread of the layer's own beside the program's. All signals are blocked in it: the
/// program's handlers run in its own threads. False where none can be had.
bool start_thread(pthread_t& thread, void* (*run)(void*), void* argument);

}  // namespace headrace
