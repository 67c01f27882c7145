#pragma once

#include <pthread.h>

namespace headrace {

/// Starts a thread of the layer. It blocks signals, so that the program's handlers run in the
/// program's threads; only signals that the thread causes itself, such as SIGSEGV while it copies
/// the program's memory, reach a handler there. False if no thread can be had.
bool start_thread(pthread_t& thread, void* (*run)(void*), void* argument);

}  // namespace headrace
