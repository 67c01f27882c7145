#include "device_memory.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

static void* library;
static long long failures_before;

/// What a driver does; `kind` is one of KIND_DEVICE, KIND_MANAGED, KIND_PINNED.
static struct {
  void* (*allocate)(int kind, size_t bytes);
  void (*free)(int kind, void* memory);
  void (*to_device)(void* to, const void* from, size_t bytes);
  void (*to_host)(void* to, const void* from, size_t bytes);
  int (*enroll)(void* memory, size_t bytes, unsigned flags);  ///< NULL where it cannot
  int (*dismiss)(void* memory);
} driver;

const char* kind_name(int kind) {
  static const char* const names[] = {"host",   "device",     "managed",
                                      "pinned", "registered", "pooled"};
  return names[kind];
}

static void* function(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "the driver has no %s\n", name);
    abort();
  }
  return found;
}

static void must(int code, const char* what) {
  if (code == 0) return;
  fprintf(stderr, "%s failed with %d\n", what, code);
  abort();
}

// --- CUDA ---

static void* cuda_context;

// In each thread and behind whatever else was current.
static void cuda_enter(void) {
  must(((int (*)(void*))function("cuCtxSetCurrent"))(cuda_context), "cuCtxSetCurrent");
}

static int cuda_open(void) {
  int device = 0;
  if (((int (*)(unsigned))function("cuInit"))(0) != 0) return 0;
  must(((int (*)(int*, int))function("cuDeviceGet"))(&device, 0), "cuDeviceGet");
  must(((int (*)(void**, int))function("cuDevicePrimaryCtxRetain"))(&cuda_context, device),
       "cuDevicePrimaryCtxRetain");
  cuda_enter();
  return 1;
}

static void* cuda_allocate(int kind, size_t bytes) {
  Address device = 0;
  void* host = NULL;
  cuda_enter();
  if (kind == KIND_DEVICE) {
    must(((int (*)(Address*, size_t))function("cuMemAlloc_v2"))(&device, bytes), "cuMemAlloc");
  } else if (kind == KIND_MANAGED) {
    const unsigned to_all = 1;
    must(((int (*)(Address*, size_t, unsigned))function("cuMemAllocManaged"))(&device, bytes,
                                                                              to_all),
         "cuMemAllocManaged");
  } else if (kind == KIND_POOLED) {
    must(((int (*)(Address*, size_t, void*))function("cuMemAllocAsync"))(&device, bytes, NULL),
         "cuMemAllocAsync");
    must(((int (*)(void*))function("cuStreamSynchronize"))(NULL), "cuStreamSynchronize");
  } else {
    must(((int (*)(void**, size_t, unsigned))function("cuMemHostAlloc"))(&host, bytes, 0),
         "cuMemHostAlloc");
  }
  return kind == KIND_PINNED ? host : (void*)(uintptr_t)device;
}

static void cuda_free(int kind, void* memory) {
  cuda_enter();
  if (kind == KIND_PINNED) {
    must(((int (*)(void*))function("cuMemFreeHost"))(memory), "cuMemFreeHost");
  } else {
    must(((int (*)(Address))function("cuMemFree_v2"))((Address)(uintptr_t)memory), "cuMemFree");
  }
}

static void cuda_to_device(void* to, const void* from, size_t bytes) {
  cuda_enter();
  must(((int (*)(Address, const void*, size_t))function("cuMemcpyHtoD_v2"))((Address)(uintptr_t)to,
                                                                            from, bytes),
       "cuMemcpyHtoD");
}

static void cuda_to_host(void* to, const void* from, size_t bytes) {
  cuda_enter();
  must(((int (*)(void*, Address, size_t))function("cuMemcpyDtoH_v2"))(to, (Address)(uintptr_t)from,
                                                                      bytes),
       "cuMemcpyDtoH");
}

// --- HIP ---

static int hip_open(void) {
  return ((int (*)(int))function("hipSetDevice"))(0) == 0;
}

static void* hip_allocate(int kind, size_t bytes) {
  void* memory = NULL;
  if (kind == KIND_DEVICE) {
    must(((int (*)(void**, size_t))function("hipMalloc"))(&memory, bytes), "hipMalloc");
  } else {
    const char* name = kind == KIND_MANAGED ? "hipMallocManaged" : "hipHostMalloc";
    const unsigned flags = kind == KIND_MANAGED;
    must(((int (*)(void**, size_t, unsigned))function(name))(&memory, bytes, flags), name);
  }
  return memory;
}

static void hip_free(int kind, void* memory) {
  const char* name = kind == KIND_PINNED ? "hipHostFree" : "hipFree";
  must(((int (*)(void*))function(name))(memory), name);
}

static void hip_copy(void* to, const void* from, size_t bytes) {
  const int by_address = 4;
  must(((int (*)(void*, const void*, size_t, int))function("hipMemcpy"))(to, from, bytes,
                                                                         by_address),
       "hipMemcpy");
}

// --- Level Zero ---

static struct {
  void *driver, *device, *context;
} ze;

/// Any of the descriptions that are passed below: a type, what follows it, and no flags.
typedef struct {
  int type;
  const void* next;
  unsigned flags, ordinal, more[8];
} Description;

static int level_zero_open(void) {
  uint32_t one = 1;
  const Description context = {.type = 0xd};
  if (((int (*)(uint32_t))function("zeInit"))(0) != 0) return 0;
  must(((int (*)(uint32_t*, void**))function("zeDriverGet"))(&one, &ze.driver), "zeDriverGet");
  must(((int (*)(void*, uint32_t*, void**))function("zeDeviceGet"))(ze.driver, &one, &ze.device),
       "zeDeviceGet");
  must(((int (*)(void*, const void*, void**))function("zeContextCreate"))(ze.driver, &context,
                                                                          &ze.context),
       "zeContextCreate");
  return 1;
}

static void* level_zero_allocate(int kind, size_t bytes) {
  const Description device = {.type = 0x15}, host = {.type = 0x16};
  void* memory = NULL;
  if (kind == KIND_DEVICE) {
    must(((int (*)(void*, const void*, size_t, size_t, void*, void**))function("zeMemAllocDevice"))(
             ze.context, &device, bytes, 64, ze.device, &memory),
         "zeMemAllocDevice");
  } else if (kind == KIND_MANAGED) {
    must(((int (*)(void*, const void*, const void*, size_t, size_t, void*, void**))function(
             "zeMemAllocShared"))(ze.context, &device, &host, bytes, 64, ze.device, &memory),
         "zeMemAllocShared");
  } else {
    must(((int (*)(void*, const void*, size_t, size_t, void**))function("zeMemAllocHost"))(
             ze.context, &host, bytes, 64, &memory),
         "zeMemAllocHost");
  }
  return memory;
}

static void level_zero_free(int kind, void* memory) {
  (void)kind;
  must(((int (*)(void*, void*))function("zeMemFree"))(ze.context, memory), "zeMemFree");
}

// By the stand-in's own door: a list of commands is what the layer is tested with.
static unsigned char* reach(const void* memory, size_t bytes) {
  return ((unsigned char* (*)(const void*, size_t))function("memory_reach"))(memory, bytes);
}

static void level_zero_to_device(void* to, const void* from, size_t bytes) {
  memcpy(reach(to, bytes), from, bytes);
}

static void level_zero_to_host(void* to, const void* from, size_t bytes) {
  memcpy(to, reach(from, bytes), bytes);
}

// --- whichever it is ---

static void* open_first(const char* const* names) {
  void* found = NULL;
  for (; *names && !found; names++) found = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
  return found;
}

int device_open(const char* name) {
  static const char* const cuda[] = {"libcuda.so.1", NULL};
  static const char* const hip[] = {"libamdhip64.so.6", "libamdhip64.so.5", NULL};
  static const char* const level_zero[] = {"libze_loader.so.1", NULL};
  const int is_cuda = strcmp(name, "cuda") == 0, is_hip = strncmp(name, "hip", 3) == 0;
  library = open_first(is_cuda ? cuda : is_hip ? hip : level_zero);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  driver.allocate = is_cuda ? cuda_allocate : is_hip ? hip_allocate : level_zero_allocate;
  driver.free = is_cuda ? cuda_free : is_hip ? hip_free : level_zero_free;
  driver.to_device = is_cuda ? cuda_to_device : is_hip ? hip_copy : level_zero_to_device;
  driver.to_host = is_cuda ? cuda_to_host : is_hip ? hip_copy : level_zero_to_host;
  if (is_cuda || is_hip) {
    driver.enroll = function(is_cuda ? "cuMemHostRegister_v2" : "hipHostRegister");
    driver.dismiss = function(is_cuda ? "cuMemHostUnregister" : "hipHostUnregister");
  }
  return is_cuda ? cuda_open() : is_hip ? hip_open() : level_zero_open();
}

int device_has(int kind) {
  if (kind == KIND_POOLED) return driver.allocate == cuda_allocate;
  return kind != KIND_REGISTERED || driver.enroll != NULL;
}

// Never NULL, never of 0 bytes.
void* device_allocate(int kind, size_t bytes) {
  if (kind != KIND_HOST && kind != KIND_REGISTERED) return driver.allocate(kind, bytes + 1);
  void* memory = malloc(bytes + 1);
  if (kind == KIND_REGISTERED) must(driver.enroll(memory, bytes + 1, 0), "register memory");
  return memory;
}

void device_free(int kind, void* memory) {
  if (kind == KIND_HOST || kind == KIND_REGISTERED) {
    if (kind == KIND_REGISTERED) must(driver.dismiss(memory), "unregister memory");
    free(memory);
  } else {
    driver.free(kind, memory);
  }
}

void device_put(int kind, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (kind == KIND_DEVICE || kind == KIND_POOLED) {
    driver.to_device(to, from, bytes);
  } else {
    memcpy(to, from, bytes);
  }
}

void device_get(int kind, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (kind == KIND_DEVICE || kind == KIND_POOLED) {
    driver.to_host(to, from, bytes);
  } else {
    memcpy(to, from, bytes);
  }
}

long long device_count(const char* name) {
  return ((long long (*)(const char*))function("stand_in_count"))(name);
}

int fail_copy(int nth, int late) {
  const int illegal_address = 700;
  const long long all = device_count("failures");
  const int since = (int)(all - failures_before);
  failures_before = all;
  ((void (*)(long long, int, int))function("stand_in_fail"))(nth, illegal_address, late);
  return since;
}

void fail_streams(int fails) {
  ((void (*)(int))function("stand_in_fail_streams"))(fails);
}

void device_reset(int keeps_pinned) {
  ((void (*)(int))function("stand_in_reset"))(keeps_pinned);
}

void device_make_stream(void) {
  const int ordered = 1;
  ((void* (*)(void*, int, int))function("stream_create"))(cuda_context, 0, ordered);
}
