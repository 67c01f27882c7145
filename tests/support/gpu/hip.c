// Stand-in for AMD's libamdhip64.so: the functions of the HIP runtime that Headrace and its tests
// use, with the names, types and numbers of hip_runtime_api.h. It is that of ROCm HIP_VERSION_MAJOR
// (a macro): 5 knows other numbers of kinds of memory and fails where an address is unknown.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memory.h"
#include "statistics.h"
#include "stream.h"

#define EXPORT __attribute__((visibility("default")))

typedef int hipError_t;
typedef Stream* hipStream_t;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_HANDLE = 400,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  CONTEXT_IS_DESTROYED = 709
};
#if HIP_VERSION_MAJOR >= 6
enum { TYPE_UNREGISTERED = 0, TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_MANAGED = 3 };
#else
enum { TYPE_HOST = 0, TYPE_DEVICE = 1, TYPE_MANAGED = 4 };
#endif
enum { COPY_TO_HOST = 2, COPY_DEFAULT = 4, STREAM_NON_BLOCKING = 1, device_count = 2 };

/// hipPointerAttribute_t.
typedef struct {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned allocation_flags;
} Attributes;

static _Thread_local int current;
static _Thread_local hipError_t last_error;

// Each function's end: a failure is kept for hipGetLastError.
static hipError_t done(hipError_t code) {
  if (code) last_error = code;
  return code;
}

EXPORT hipError_t hipInit(unsigned flags) {
  return done(flags ? INVALID_VALUE : is_own_process() ? SUCCESS : NOT_INITIALIZED);
}

EXPORT hipError_t hipRuntimeGetVersion(int* version) {
  *version = HIP_VERSION_MAJOR * 10000000;
  return SUCCESS;
}

EXPORT hipError_t hipGetDevice(int* device) {
  *device = current;
  return done(is_own_process() ? SUCCESS : NOT_INITIALIZED);
}

EXPORT hipError_t hipSetDevice(int device) {
  if (device < 0 || device >= device_count) return done(INVALID_DEVICE);
  current = device;
  return SUCCESS;
}

EXPORT hipError_t hipGetLastError(void) {
  const hipError_t code = last_error;
  last_error = SUCCESS;
  return code;
}

EXPORT hipError_t hipPeekAtLastError(void) {
  return last_error;
}

static hipError_t allocate(int kind, void** address, size_t bytes) {
  if (!is_own_process()) return done(NOT_INITIALIZED);
  *address = memory_allocate(kind, bytes, NULL, current);
  return done(*address ? SUCCESS : bytes ? OUT_OF_MEMORY : INVALID_VALUE);
}

static hipError_t release(void* address, int kinds) {
  if (address == NULL) return SUCCESS;
  streams_wait();
  return done(memory_free(address, kinds) ? SUCCESS : INVALID_VALUE);
}

EXPORT hipError_t hipMalloc(void** address, size_t bytes) {
  return allocate(DEVICE, address, bytes);
}

EXPORT hipError_t hipMallocManaged(void** address, size_t bytes, unsigned flags) {
  (void)flags;
  return allocate(MANAGED, address, bytes);
}

EXPORT hipError_t hipFree(void* address) {
  return release(address, DEVICE | MANAGED);
}

EXPORT hipError_t hipHostMalloc(void** address, size_t bytes, unsigned flags) {
  (void)flags;
  return allocate(PINNED, address, bytes);
}

EXPORT hipError_t hipHostFree(void* address) {
  return release(address, PINNED);
}

EXPORT hipError_t hipHostRegister(void* address, size_t bytes, unsigned flags) {
  (void)flags;
  memory_register(address, bytes, NULL, current);
  return SUCCESS;
}

EXPORT hipError_t hipHostUnregister(void* address) {
  return release(address, REGISTERED);
}

static void describe(const Allocation* one, const void* address, Attributes* attributes) {
  const int is_managed = one->kind == MANAGED, is_device = one->kind == DEVICE;
  attributes->type = is_managed ? TYPE_MANAGED : is_device ? TYPE_DEVICE : TYPE_HOST;
  attributes->device = one->device;
  attributes->device_pointer = (void*)address;
  attributes->host_pointer = is_device ? NULL : (void*)address;
  attributes->is_managed = is_managed;
}

EXPORT hipError_t hipPointerGetAttributes(Attributes* attributes, const void* address) {
  Allocation one;
  if (!is_own_process()) return done(NOT_INITIALIZED);
  if (attributes == NULL || address == NULL) return done(INVALID_VALUE);
  count(QUERIES, 1);
  memset(attributes, 0, sizeof *attributes);
  if (memory_find(address, &one)) {
    describe(&one, address, attributes);
    return SUCCESS;
  }
#if HIP_VERSION_MAJOR >= 6
  attributes->type = TYPE_UNREGISTERED;
  attributes->device = -2;
  return SUCCESS;
#else
  return done(INVALID_VALUE);
#endif
}

// HIP_POINTER_ATTRIBUTE_BUFFER_ID, of four bytes.
EXPORT hipError_t hipPointerGetAttribute(void* value, int which, void* address) {
  Allocation one = {0};
  if (!is_own_process()) return done(NOT_INITIALIZED);
  if (value == NULL || address == NULL || which != 7) return done(INVALID_VALUE);
  count(QUERIES, 1);
  const int known = memory_find(address, &one);
  *(uint32_t*)value = (uint32_t)one.id;
  return done(known ? SUCCESS : INVALID_VALUE);
}

// HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, _HOST_POINTER, _IS_MANAGED and _DEVICE_ORDINAL.
EXPORT hipError_t hipDrvPointerGetAttributes(unsigned number, int* which, void** values,
                                             void* address) {
  Allocation one;
  Attributes found = {0};
  count(QUERIES, 1);
  if (memory_find(address, &one)) describe(&one, address, &found);
  for (unsigned i = 0; i < number; i++) {
    if (which[i] == 2) *(int*)values[i] = found.type;
    if (which[i] == 4) *(void**)values[i] = found.host_pointer;
    if (which[i] == 8) *(int*)values[i] = found.is_managed;
    if (which[i] == 9) *(int*)values[i] = found.device;
  }
  return SUCCESS;
}

EXPORT hipError_t hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  if (!is_own_process()) return done(NOT_INITIALIZED);
  if (kind < 0 || kind > COPY_DEFAULT) return done(INVALID_VALUE);
  return done(copy_now(to, from, bytes, INVALID_VALUE));
}

EXPORT hipError_t hipMemset(void* to, int value, size_t bytes) {
  return done(fill_later(to, value, bytes, INVALID_VALUE));
}

static hipError_t begin(hipStream_t stream, Copy copy, int kind) {
  if (!is_own_process()) return NOT_INITIALIZED;
  if (kind < 0 || kind > COPY_DEFAULT) return INVALID_VALUE;
  if (stream && (!stream_exists(stream) || stream_device(stream) != current)) {
    return INVALID_HANDLE;
  }
  return stream_copy(stream, &copy, INVALID_VALUE);
}

EXPORT hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                 hipStream_t stream) {
  return done(begin(stream, (Copy){to, from, bytes, 1, bytes, bytes}, kind));
}

EXPORT hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                   size_t width, size_t height, int kind, hipStream_t stream) {
  if (width > to_pitch || width > from_pitch) return done(INVALID_VALUE);
  return done(begin(stream, (Copy){to, from, width, height, to_pitch, from_pitch}, kind));
}

EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  if (!is_own_process()) return done(NOT_INITIALIZED);
  *stream = stream_create(NULL, current, !(flags & STREAM_NON_BLOCKING));
  return done(*stream ? SUCCESS : OUT_OF_MEMORY);
}

EXPORT hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithFlags(stream, 0);
}

EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  return done(stream_destroy(stream) ? SUCCESS : INVALID_HANDLE);
}

EXPORT hipError_t hipStreamQuery(hipStream_t stream) {
  if (stream && !stream_exists(stream)) return done(CONTEXT_IS_DESTROYED);
  return done(stream_query(stream, NOT_READY));
}

EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  if (stream && !stream_exists(stream)) return done(INVALID_HANDLE);
  count(WAITS, 1);
  return done(stream_wait(stream));
}

EXPORT const char* hipGetErrorString(hipError_t code) {
  switch (code) {
    case SUCCESS: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NOT_INITIALIZED: return "initialization error";
    case INVALID_DEVICE: return "invalid device ordinal";
    case INVALID_HANDLE: return "invalid resource handle";
    case NOT_READY: return "device not ready";
    case CONTEXT_IS_DESTROYED: return "context is destroyed";
    case ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    default: return "unknown error";
  }
}
