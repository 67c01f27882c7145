#include "base/thread.h"

#include "base/blocked_signals.h"

namespace headrace {

bool start_thread(pthread_t& thread, void* (*run)(void*), void* argument) {
  const BlockedSignals blocked;
  if (pthread_create(&thread, nullptr, run, argument) != 0) return false;
  pthread_setname_np(thread, "headrace");
  return true;
}

}  // namespace headrace
