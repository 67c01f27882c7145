/* Phases of a program, for Headrace (docs/regions.md). C and C++.
 *
 *     mpicc -I$(headrace include) program.c
 *
 * A program that is built with this needs no library of Headrace's: the functions look for it in
 * the process once. If it is not there, each is a load and a test. */
#ifndef HEADRACE_H
#define HEADRACE_H

#include <dlfcn.h>

#define HEADRACE_OFF 0
#define HEADRACE_ON 1
#define HEADRACE_QUERY 2

/* A function of Headrace's; NULL if it is not in the process. `place` keeps what was found: itself
 * if nothing was. Threads that look at once find the same. */
static __inline__ void* headrace_find(void** place, const char* name) {
  void* found = __atomic_load_n(place, __ATOMIC_RELAXED);
  if (found == 0) {
    found = dlsym(0, name); /* 0: RTLD_DEFAULT, which some headers hide */
    if (found == 0) found = place;
    __atomic_store_n(place, found, __ATOMIC_RELAXED);
  }
  return found == place ? 0 : found;
}

/* This thread enters the region `id`, which is 0 or greater. Its first label is kept; it may be
 * NULL. Regions may nest, and each thread has its own.
 * Returns 1 if it is recorded, 0 if nothing is, -1 if the call is wrong. */
static __inline__ int headrace_region_begin(int id, const char* label) {
  static void* place;
  union {
    void* object;
    int (*function)(int, const char*);
  } found;
  found.object = headrace_find(&place, "headrace_region_begin");
  return found.object ? found.function(id, label) : 0;
}

/* This thread leaves the region `id`. Returns as headrace_region_begin. */
static __inline__ int headrace_region_end(int id) {
  static void* place;
  union {
    void* object;
    int (*function)(int);
  } found;
  found.object = headrace_find(&place, "headrace_region_end");
  return found.object ? found.function(id) : 0;
}

/* Switches recording of this process HEADRACE_OFF or HEADRACE_ON; HEADRACE_QUERY changes nothing.
 * Returns which it was; HEADRACE_OFF if Headrace is not there; -1 for another state. */
static __inline__ int headrace_record(int state) {
  static void* place;
  union {
    void* object;
    int (*function)(int);
  } found;
  found.object = headrace_find(&place, "headrace_record");
  return found.object ? found.function(state) : HEADRACE_OFF;
}

/* Writes down what is known now, for those who look at the job while it runs or after it was
 * killed. Returns 1, or 0 if nothing is recorded. */
static __inline__ int headrace_flush(void) {
  static void* place;
  union {
    void* object;
    int (*function)(void);
  } found;
  found.object = headrace_find(&place, "headrace_flush");
  return found.object ? found.function() : 0;
}

#endif
