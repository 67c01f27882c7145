// What users of a driver did, for tests: asked for by name, and written to the file that
// GPU_LOG names when the process ends.
#pragma once

/// What is counted. Only copies that a program does not wait for by calling them: a test's own
/// copies wait.
typedef enum {
  COPIES,  ///< calls that copy
  COPIED_BYTES,
  RECTANGLES,      ///< of the copies, those of rows
  WAITS,           ///< for a stream
  QUERIES,         ///< about an address
  STREAMS,         ///< made
  STREAMS_NOW,     ///< made and not destroyed
  PINNED_NOW,      ///< host memory that was taken and not given back, in bytes
  PINNED_MOST,     ///< the most at a time
  PINNED_LARGEST,  ///< the largest piece
  FAILURES,        ///< calls that failed
  STATISTIC_COUNT
} Statistic;

void count(Statistic statistic, long long more);
void count_pinned(long long bytes);

/// For tests, found by dlsym: a count by its name, -1 for another name.
long long stand_in_count(const char* name);
/// Lets the `nth` copy from now on fail with `code`: when it is asked for, or (`late`) when it is
/// waited for. 0: no copy fails.
void stand_in_fail(long long nth, int code, int late);

/// What the next copy must fail with, or 0; `*late` as above.
int failure_of_copy(int* late);
