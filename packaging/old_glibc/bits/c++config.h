// GCC's C++ headers, as configured with a later glibc, call functions that glibc 2.28 lacks: waits
// with a time limit by a named clock (2.30). Without these words they use the functions that take
// the system's clock, and look at the wanted clock again when a wait ends.
#include_next <bits/c++config.h>

#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
