/* The names of CrayPat's interface for regions, for programs that use them, by way of headrace.h.
 * Only this folder, named by -I, chooses between CrayPat's header and this one. */
#ifndef HEADRACE_PAT_API_H
#define HEADRACE_PAT_API_H

#include "headrace.h"

#define PAT_API_OK 1
#define PAT_API_FAIL 0
#define PAT_STATE_OFF HEADRACE_OFF
#define PAT_STATE_ON HEADRACE_ON
#define PAT_STATE_QUERY HEADRACE_QUERY

static __inline__ int PAT_region_begin(int id, const char* label) {
  return headrace_region_begin(id, label) < 0 ? PAT_API_FAIL : PAT_API_OK;
}

static __inline__ int PAT_region_end(int id) {
  return headrace_region_end(id) < 0 ? PAT_API_FAIL : PAT_API_OK;
}

/* Of PAT_STATE_QUERY it returns the state. */
static __inline__ int PAT_record(int state) {
  const int before = headrace_record(state);
  if (state == PAT_STATE_QUERY) return before;
  return before < 0 ? PAT_API_FAIL : PAT_API_OK;
}

/* The record is in memory of the node at all times: no byte has to be written. */
static __inline__ int PAT_flush_buffer(unsigned long* bytes) {
  headrace_flush();
  if (bytes) *bytes = 0;
  return PAT_API_OK;
}

#endif
