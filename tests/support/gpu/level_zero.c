// Stand-in for Intel's libze_loader.so.1: the functions of oneAPI Level Zero that Headrace and its
// tests use, with the names, types and numbers of ze_api.h.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "memory.h"
#include "statistics.h"
#include "stream.h"

#define EXPORT __attribute__((visibility("default")))

typedef int ze_result_t;
typedef void* Handle;

enum {
  SUCCESS = 0,
  OUT_OF_DEVICE_MEMORY = 0x70000003,
  UNINITIALIZED = 0x78000001,
  INVALID_ARGUMENT = 0x78000004,
  INVALID_NULL_HANDLE = 0x78000005,
  INVALID_NULL_POINTER = 0x78000007
};
enum { TYPE_UNKNOWN = 0, TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_SHARED = 3 };
enum {
  STRUCTURE_CONTEXT = 0xd,
  STRUCTURE_QUEUE = 0xe,
  STRUCTURE_DEVICE_MEMORY = 0x15,
  STRUCTURE_HOST_MEMORY = 0x16,
  STRUCTURE_PROPERTIES = 0x17
};
enum { MODE_SYNCHRONOUS = 1, device_count = 2 };

typedef struct {
  int type;
  const void* next;
} Description;
typedef struct {
  int type;
  const void* next;
  uint32_t ordinal, index, flags;
  int mode, priority;
} QueueDescription;
typedef struct {
  int type;
  void* next;
  int memory_type;
  uint64_t id, page_size;
} Properties;
typedef struct {
  uint32_t x, y, z, width, height, depth;
} Region;
typedef struct {
  Stream* stream;
  int waits;
} List;

static int driver;
static int devices[device_count];
static int is_initialized;

static int ready(void) {
  return __atomic_load_n(&is_initialized, __ATOMIC_RELAXED) && is_own_process();
}

EXPORT ze_result_t zeInit(uint32_t flags) {
  (void)flags;
  if (!is_own_process()) return UNINITIALIZED;
  __atomic_store_n(&is_initialized, 1, __ATOMIC_RELAXED);
  return SUCCESS;
}

static ze_result_t give(uint32_t* number, Handle* handles, uint32_t all, char* first, size_t size) {
  if (!ready()) return UNINITIALIZED;
  if (number == NULL) return INVALID_NULL_POINTER;
  if (*number == 0 || *number > all) *number = all;
  for (uint32_t i = 0; handles && i < *number; i++) handles[i] = first + i * size;
  return SUCCESS;
}

EXPORT ze_result_t zeDriverGet(uint32_t* number, Handle* drivers) {
  return give(number, drivers, 1, (char*)&driver, sizeof driver);
}

EXPORT ze_result_t zeDeviceGet(Handle of_driver, uint32_t* number, Handle* found) {
  if (of_driver != &driver) return INVALID_NULL_HANDLE;
  return give(number, found, device_count, (char*)devices, sizeof *devices);
}

EXPORT ze_result_t zeContextCreate(Handle of_driver, const Description* description,
                                   Handle* context) {
  if (!ready()) return UNINITIALIZED;
  if (of_driver != &driver) return INVALID_NULL_HANDLE;
  if (description == NULL || description->type != STRUCTURE_CONTEXT) return INVALID_ARGUMENT;
  *context = malloc(1);
  return SUCCESS;
}

EXPORT ze_result_t zeContextDestroy(Handle context) {
  free(context);
  return SUCCESS;
}

static int device_of(Handle device) {
  return (int)((int*)device - devices);
}

static ze_result_t allocate(int kind, Handle context, size_t bytes, size_t alignment, int device,
                            void** address) {
  if (!ready()) return UNINITIALIZED;
  if (context == NULL) return INVALID_NULL_HANDLE;
  if (bytes == 0 || (alignment & (alignment - 1))) return INVALID_ARGUMENT;
  *address = memory_allocate(kind, bytes, context, device);
  return *address ? SUCCESS : OUT_OF_DEVICE_MEMORY;
}

EXPORT ze_result_t zeMemAllocDevice(Handle context, const Description* description, size_t bytes,
                                    size_t alignment, Handle device, void** address) {
  if (description == NULL || description->type != STRUCTURE_DEVICE_MEMORY) return INVALID_ARGUMENT;
  return allocate(DEVICE, context, bytes, alignment, device_of(device), address);
}

EXPORT ze_result_t zeMemAllocHost(Handle context, const Description* description, size_t bytes,
                                  size_t alignment, void** address) {
  if (description == NULL || description->type != STRUCTURE_HOST_MEMORY) return INVALID_ARGUMENT;
  return allocate(PINNED, context, bytes, alignment, 0, address);
}

EXPORT ze_result_t zeMemAllocShared(Handle context, const Description* device_description,
                                    const Description* host_description, size_t bytes,
                                    size_t alignment, Handle device, void** address) {
  if (device_description == NULL || host_description == NULL) return INVALID_NULL_POINTER;
  return allocate(MANAGED, context, bytes, alignment, device ? device_of(device) : 0, address);
}

EXPORT ze_result_t zeMemFree(Handle context, void* address) {
  if (context == NULL) return INVALID_NULL_HANDLE;
  streams_wait();
  return memory_free(address, DEVICE | PINNED | MANAGED) ? SUCCESS : INVALID_ARGUMENT;
}

// Memory is known whichever context it was made in; what is not known is no error.
EXPORT ze_result_t zeMemGetAllocProperties(Handle context, const void* address,
                                           Properties* properties, Handle* device) {
  Allocation one = {0};
  if (!ready()) return UNINITIALIZED;
  if (context == NULL) return INVALID_NULL_HANDLE;
  if (properties == NULL || properties->type != STRUCTURE_PROPERTIES) return INVALID_ARGUMENT;
  count(QUERIES, 1);
  const int known = memory_find(address, &one);
  properties->memory_type = !known                ? TYPE_UNKNOWN
                            : one.kind == DEVICE  ? TYPE_DEVICE
                            : one.kind == MANAGED ? TYPE_SHARED
                                                  : TYPE_HOST;
  properties->id = one.id;
  if (device) *device = known && one.kind != PINNED ? &devices[one.device] : NULL;
  return SUCCESS;
}

EXPORT ze_result_t zeMemGetAddressRange(Handle context, const void* address, void** begin,
                                        size_t* bytes) {
  Allocation one = {0};
  if (context == NULL) return INVALID_NULL_HANDLE;
  const int known = memory_find(address, &one);
  if (begin) *begin = one.begin;
  if (bytes) *bytes = one.bytes;
  return known ? SUCCESS : INVALID_ARGUMENT;
}

EXPORT ze_result_t zeCommandListCreateImmediate(Handle context, Handle device,
                                                const QueueDescription* description, Handle* list) {
  if (!ready()) return UNINITIALIZED;
  if (context == NULL || device == NULL) return INVALID_NULL_HANDLE;
  if (description == NULL || description->type != STRUCTURE_QUEUE) return INVALID_ARGUMENT;
  // Lists know nothing of each other.
  Stream* stream = stream_create(context, device_of(device), 0);
  if (stream == NULL) return OUT_OF_DEVICE_MEMORY;
  List* made = malloc(sizeof *made);
  made->stream = stream;
  made->waits = description->mode == MODE_SYNCHRONOUS;
  *list = made;
  return SUCCESS;
}

EXPORT ze_result_t zeCommandListDestroy(Handle list) {
  List* gone = list;
  if (!stream_destroy(gone->stream)) return INVALID_NULL_HANDLE;
  free(gone);
  return SUCCESS;
}

static ze_result_t append(List* list, Copy copy) {
  if (list == NULL || !stream_exists(list->stream)) return INVALID_NULL_HANDLE;
  const ze_result_t wrong = stream_copy(list->stream, &copy, INVALID_ARGUMENT);
  return wrong || !list->waits ? wrong : stream_wait(list->stream);
}

EXPORT ze_result_t zeCommandListAppendMemoryCopy(Handle list, void* to, const void* from,
                                                 size_t bytes, Handle event, uint32_t waits,
                                                 Handle* events) {
  if (event != NULL || waits != 0 || events != NULL) return INVALID_ARGUMENT;
  return append(list, (Copy){to, from, bytes, 1, bytes, bytes});
}

EXPORT ze_result_t zeCommandListAppendMemoryCopyRegion(
    Handle list, void* to, const Region* to_region, uint32_t to_pitch, uint32_t to_slice,
    const void* from, const Region* from_region, uint32_t from_pitch, uint32_t from_slice,
    Handle event, uint32_t waits, Handle* events) {
  (void)to_slice, (void)from_slice;
  if (event != NULL || waits != 0 || events != NULL) return INVALID_ARGUMENT;
  if (to_region->width != from_region->width || to_region->height != from_region->height ||
      to_region->depth > 1 || from_region->depth > 1 || to_region->width > to_pitch ||
      from_region->width > from_pitch) {
    return INVALID_ARGUMENT;
  }
  return append(list, (Copy){(char*)to + to_region->y * to_pitch + to_region->x,
                             (const char*)from + from_region->y * from_pitch + from_region->x,
                             to_region->width, to_region->height, to_pitch, from_pitch});
}

EXPORT ze_result_t zeCommandListHostSynchronize(Handle list, uint64_t timeout) {
  (void)timeout;
  if (list == NULL) return INVALID_NULL_HANDLE;
  count(WAITS, 1);
  return stream_wait(((List*)list)->stream);
}
