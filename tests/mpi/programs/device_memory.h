// Memory of a device, by whichever driver is asked for: "cuda" (also a real one), "hip" and
// "level_zero" (stand-ins of tests/support/gpu). The driver is opened by name as frameworks do it.
#ifndef HEADRACE_TEST_DEVICE_MEMORY_H
#define HEADRACE_TEST_DEVICE_MEMORY_H

#include <stddef.h>

enum { KIND_HOST, KIND_DEVICE, KIND_MANAGED, KIND_PINNED, KIND_REGISTERED, KIND_POOLED };

const char* kind_name(int kind);
/// 0 where the driver is not there, or has no device.
int device_open(const char* driver);
/// Whether the driver can make memory of this kind.
int device_has(int kind);
void* device_allocate(int kind, size_t bytes);
void device_free(int kind, void* memory);
void device_put(int kind, void* to, const void* from, size_t bytes);
void device_get(int kind, void* to, const void* from, size_t bytes);
/// Lets the `nth` copy from now on fail, when it is asked for or (`late`) when it is waited for; 0:
/// none. Returns how many copies have failed since the last call. Stand-ins only.
int fail_copy(int nth, int late);
/// Of stand-ins only, too. Whether the driver has no more streams.
void fail_streams(int fails);
/// Ends all streams and all memory but that of the host, pinned memory too unless it is kept.
void device_reset(int keeps_pinned);
/// Makes a stream of the program's own.
void device_make_stream(void);
/// What the stand-in has counted, by the names of statistics.c.
long long device_count(const char* name);

#endif
