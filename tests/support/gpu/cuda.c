// Stand-in for NVIDIA's libcuda.so.1: the functions of the CUDA Driver API that Headrace and its
// tests use, with the names, types and numbers of cuda.h, and strict where the real one may be
// lenient. What the real one does: docs/measurements/device-check.md.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "memory.h"
#include "statistics.h"
#include "stream.h"

#define EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct {
  int device;
}* CUcontext;
typedef Stream* CUstream;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  ILLEGAL_ADDRESS = 700,
  CAPTURE_UNSUPPORTED = 900
};
enum {
  ATTRIBUTE_CONTEXT = 1,
  ATTRIBUTE_MEMORY_TYPE = 2,
  ATTRIBUTE_BUFFER_ID = 7,
  ATTRIBUTE_IS_MANAGED = 8,
  ATTRIBUTE_DEVICE_ORDINAL = 9,
  ATTRIBUTE_RANGE_START = 11,
  ATTRIBUTE_RANGE_SIZE = 12
};
enum { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_UNIFIED = 4 };
enum { CAPTURE_GLOBAL = 0, CAPTURE_RELAXED = 2 };
enum { STREAM_NON_BLOCKING = 1, device_count = 2, deepest = 16 };

/// CUDA_MEMCPY2D.
typedef struct {
  size_t source_x, source_y;
  unsigned source_type;
  const void* source_host;
  CUdeviceptr source_device;
  void* source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  unsigned target_type;
  void* target_host;
  CUdeviceptr target_device;
  void* target_array;
  size_t target_pitch;
  size_t width, height;
} Rectangle;

static struct {
  int device;
} primary[device_count] = {{0}, {1}};
static int is_initialized;
static int captures;  ///< that forbid what is unsafe, in all threads
static _Thread_local CUcontext stack[deepest];
static _Thread_local int depth;
static _Thread_local int capture_mode = CAPTURE_GLOBAL;

static int ready(void) {
  return __atomic_load_n(&is_initialized, __ATOMIC_RELAXED) && is_own_process();
}

static CUcontext current(void) {
  return depth ? stack[depth - 1] : NULL;
}

// What each call that needs a context says first.
static CUresult state(void) {
  if (!ready()) return NOT_INITIALIZED;
  return current() ? SUCCESS : INVALID_CONTEXT;
}

// Of calls that a stream's capture forbids.
static CUresult unsafe_state(void) {
  const int forbidden =
      __atomic_load_n(&captures, __ATOMIC_RELAXED) && capture_mode != CAPTURE_RELAXED;
  return forbidden ? CAPTURE_UNSUPPORTED : state();
}

static CUresult stream_state(CUstream stream) {
  const CUresult wrong = state();
  if (wrong || stream == NULL) return wrong;
  if (!stream_exists(stream)) return INVALID_HANDLE;
  return stream_context(stream) == current() ? SUCCESS : INVALID_HANDLE;
}

EXPORT CUresult cuInit(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  if (!is_own_process()) return NOT_INITIALIZED;
  __atomic_store_n(&is_initialized, 1, __ATOMIC_RELAXED);
  return SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!ready()) return NOT_INITIALIZED;
  if (ordinal < 0 || ordinal >= device_count) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int* number) {
  *number = device_count;
  return ready() ? SUCCESS : NOT_INITIALIZED;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!ready()) return NOT_INITIALIZED;
  if (device < 0 || device >= device_count) return INVALID_DEVICE;
  *context = (CUcontext)&primary[device];
  return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (!ready()) return NOT_INITIALIZED;
  return device < 0 || device >= device_count ? INVALID_DEVICE : SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  if (!ready()) return NOT_INITIALIZED;
  if (context == NULL) {
    if (depth) depth--;
    return SUCCESS;
  }
  if (depth == 0) depth = 1;
  stack[depth - 1] = context;
  return SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!ready()) return NOT_INITIALIZED;
  *context = current();
  return SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (!ready()) return NOT_INITIALIZED;
  if (context == NULL || depth == deepest) return INVALID_CONTEXT;
  stack[depth++] = context;
  return SUCCESS;
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (!ready()) return NOT_INITIALIZED;
  if (depth == 0) return INVALID_CONTEXT;
  depth--;
  if (context) *context = stack[depth];
  return SUCCESS;
}

static int is_device(const Allocation* one) {
  return (one->kind & (DEVICE | POOLED | MANAGED)) != 0;
}

// Memory of which the driver knows nothing has zeros for attributes.
static CUresult attribute(void* value, int which, const Allocation* one) {
  const int known = one->kind != 0;
  switch (which) {
    case ATTRIBUTE_CONTEXT:
      *(void**)value = known && one->kind != POOLED ? one->context : NULL;
      return SUCCESS;
    case ATTRIBUTE_MEMORY_TYPE:
      *(unsigned*)value = !known ? 0 : is_device(one) ? TYPE_DEVICE : TYPE_HOST;
      return SUCCESS;
    case ATTRIBUTE_BUFFER_ID: *(unsigned long long*)value = known ? one->id : 0; return SUCCESS;
    case ATTRIBUTE_IS_MANAGED: *(unsigned*)value = one->kind == MANAGED; return SUCCESS;
    case ATTRIBUTE_DEVICE_ORDINAL: *(int*)value = known ? one->device : -2; return SUCCESS;
    case ATTRIBUTE_RANGE_START: *(void**)value = known ? one->begin : NULL; return SUCCESS;
    case ATTRIBUTE_RANGE_SIZE: *(size_t*)value = known ? one->bytes : 0; return SUCCESS;
    default: return INVALID_VALUE;
  }
}

EXPORT CUresult cuPointerGetAttribute(void* value, int which, CUdeviceptr address) {
  if (!ready()) return NOT_INITIALIZED;
  Allocation one;
  count(QUERIES, 1);
  return memory_find((void*)address, &one) ? attribute(value, which, &one) : INVALID_VALUE;
}

EXPORT CUresult cuPointerGetAttributes(unsigned number, int* which, void** values,
                                       CUdeviceptr address) {
  if (!ready()) return NOT_INITIALIZED;
  Allocation one = {0};
  CUresult wrong = SUCCESS;
  count(QUERIES, 1);
  memory_find((void*)address, &one);
  for (unsigned i = 0; i < number && !wrong; i++) wrong = attribute(values[i], which[i], &one);
  return wrong;
}

static CUresult allocate(int kind, CUdeviceptr* address, size_t bytes) {
  void* memory = memory_allocate(kind, bytes, current(), current()->device);
  if (memory == NULL) return bytes ? OUT_OF_MEMORY : INVALID_VALUE;
  *address = (CUdeviceptr)memory;
  return SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  const CUresult wrong = unsafe_state();
  return wrong ? wrong : allocate(DEVICE, address, bytes);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  const CUresult wrong = unsafe_state();
  if (flags == 0) return INVALID_VALUE;
  return wrong ? wrong : allocate(MANAGED, address, bytes);
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  const CUresult wrong = stream_state(stream);
  return wrong ? wrong : allocate(POOLED, address, bytes);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  const CUresult wrong = unsafe_state();
  if (wrong) return wrong;
  streams_wait();
  return memory_free((void*)address, DEVICE | POOLED | MANAGED) ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const CUresult wrong = stream_state(stream);
  if (wrong) return wrong;
  stream_wait(stream);
  return memory_free((void*)address, DEVICE | POOLED) ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  const CUresult wrong = unsafe_state();
  CUdeviceptr memory = 0;
  (void)flags;
  if (wrong) return wrong;
  const CUresult failure = allocate(PINNED, &memory, bytes);
  if (!failure) *address = (void*)memory;
  return failure;
}

EXPORT CUresult cuMemFreeHost(void* address) {
  const CUresult wrong = unsafe_state();
  if (wrong) return wrong;
  streams_wait();
  return memory_free(address, PINNED) ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  const CUresult wrong = unsafe_state();
  (void)flags;
  if (wrong) return wrong;
  memory_register(address, bytes, current(), current()->device);
  return SUCCESS;
}

EXPORT CUresult cuMemHostUnregister(void* address) {
  const CUresult wrong = unsafe_state();
  if (wrong) return wrong;
  return memory_free(address, REGISTERED) ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  const CUresult wrong = state();
  return wrong ? wrong : copy_now((void*)to, from, bytes, INVALID_VALUE);
}

EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  const CUresult wrong = state();
  return wrong ? wrong : copy_now(to, (void*)from, bytes, INVALID_VALUE);
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes) {
  const CUresult wrong = state();
  return wrong ? wrong : fill_later((void*)to, value, bytes, INVALID_VALUE);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  const CUresult wrong = stream_state(stream);
  if (wrong) return wrong;
  const Copy copy = {(void*)to, (void*)from, bytes, 1, bytes, bytes};
  return stream_copy(stream, &copy, INVALID_VALUE);
}

// An address of a rectangle's side, or NULL where there is none.
static void* side(unsigned type, const void* host, CUdeviceptr device, size_t x, size_t y,
                  size_t pitch) {
  Allocation one;
  const char* begin = type == TYPE_HOST ? host : (const char*)device;
  if (type != TYPE_HOST && type != TYPE_DEVICE && type != TYPE_UNIFIED) return NULL;
  if (type == TYPE_DEVICE && !memory_find(begin, &one)) return NULL;
  return (void*)(begin + y * pitch + x);
}

EXPORT CUresult cuMemcpy2DAsync_v2(const Rectangle* r, CUstream stream) {
  const CUresult wrong = stream_state(stream);
  const size_t largest_pitch = 0x7fffffff;
  if (wrong) return wrong;
  const Copy copy = {side(r->target_type, r->target_host, r->target_device, r->target_x,
                          r->target_y, r->target_pitch),
                     side(r->source_type, r->source_host, r->source_device, r->source_x,
                          r->source_y, r->source_pitch),
                     r->width,
                     r->height,
                     r->target_pitch,
                     r->source_pitch};
  if (!copy.to || !copy.from || r->width > r->source_pitch || r->width > r->target_pitch ||
      r->source_pitch > largest_pitch || r->target_pitch > largest_pitch) {
    return INVALID_VALUE;
  }
  return stream_copy(stream, &copy, INVALID_VALUE);
}

EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  const CUresult wrong = state();
  if (wrong) return wrong;
  *stream = stream_create(current(), current()->device, !(flags & STREAM_NON_BLOCKING));
  return *stream ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  const CUresult wrong = state();
  if (wrong) return wrong;
  return stream_destroy(stream) ? SUCCESS : INVALID_HANDLE;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const CUresult wrong = stream_state(stream);
  if (wrong) return wrong;
  count(WAITS, 1);
  return stream_wait(stream);
}

// Nothing is recorded: what a capture forbids is all that there is.
EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  const CUresult wrong = stream_state(stream);
  if (wrong || stream == NULL) return wrong ? wrong : CAPTURE_UNSUPPORTED;
  if (mode == CAPTURE_GLOBAL) __atomic_add_fetch(&captures, 1, __ATOMIC_RELAXED);
  return SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, void** graph) {
  const CUresult wrong = stream_state(stream);
  if (wrong) return wrong;
  __atomic_sub_fetch(&captures, 1, __ATOMIC_RELAXED);
  *graph = NULL;
  return SUCCESS;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  if (*mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED) return INVALID_VALUE;
  capture_mode = *mode;
  *mode = before;
  return SUCCESS;
}

static const char* texts_of(CUresult code, int wants_name) {
  static const struct {
    CUresult code;
    const char *name, *text;
  } all[] = {
      {SUCCESS, "CUDA_SUCCESS", "no error"},
      {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
      {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
      {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
      {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
      {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
      {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
      {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
      {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
       "operation not permitted when stream is capturing"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].code == code) return wants_name ? all[i].name : all[i].text;
  }
  return NULL;
}

EXPORT CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = texts_of(code, 0);
  return *text ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuGetErrorName(CUresult code, const char** text) {
  *text = texts_of(code, 1);
  return *text ? SUCCESS : INVALID_VALUE;
}
