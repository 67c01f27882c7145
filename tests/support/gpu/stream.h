// Copies that go on by themselves: one after the other within a stream, in any order else.
#pragma once

#include <stddef.h>

typedef struct Stream Stream;

/// `rows` rows of `width` bytes; strides are from row to row.
typedef struct {
  void* to;
  const void* from;
  size_t width, rows, to_stride, from_stride;
} Copy;

/// One that is `ordered` comes behind and before what is on the default stream. NULL where a test
/// asked for it.
Stream* stream_create(void* context, int device, int ordered);
/// Waits for what is on it. Returns 0 where there is no such stream.
int stream_destroy(Stream* stream);
/// Ends all of them. Their addresses are given to the next ones.
void streams_purge(void);
/// For tests, found by dlsym: whether there are no more streams.
void stand_in_fail_streams(int fails);
int stream_exists(const Stream* stream);
void* stream_context(const Stream* stream);
int stream_device(const Stream* stream);

/// Begins a copy; stream NULL is the default one. A stream that has failed fails from then on.
/// Returns 0, `invalid` for memory that is not there, or the failure that a test asked for.
int stream_copy(Stream* stream, const Copy* copy, int invalid);
/// 0, the failure of a copy on it, or `not_ready` where some are under way.
int stream_query(Stream* stream, int not_ready);
/// Waits for a stream. Returns 0, or the failure of a copy on it.
int stream_wait(Stream* stream);
/// Waits for all of them.
void streams_wait(void);

/// A copy that is waited for, after all else; as a program's own, it is not counted. Returns 0 or
/// `invalid`.
int copy_now(void* to, const void* from, size_t bytes, int invalid);
/// Fills memory, some time after all that is on ordered streams now. Returns 0 or `invalid`.
int fill_later(void* to, int value, size_t bytes, int invalid);

/// 1 in the process that first asked, 0 in one that was forked from it: drivers do not serve these.
int is_own_process(void);
