#pragma once

#include <pthread.h>

namespace headrace {

/// While an object lives, its thread is not cancelled: what is under way may take locks, or is not
/// allowed to throw, which is how a cancellation unwinds.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous_); }
  ~NoCancellation() { pthread_setcancelstate(previous_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int previous_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace headrace
