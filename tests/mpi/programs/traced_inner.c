// A library that calls the traced one. See traced_rough.cc.
#include "traced_library.h"

static void count(void* argument) {
  ++*(long*)argument;
  traced_nothing();
}

long inner_calls(long times) {
  long calls = 0;
  for (long i = 0; i < times; ++i) traced_calls_back(count, &calls);
  return calls;
}
