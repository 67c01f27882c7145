#define _GNU_SOURCE
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "statistics.h"

enum { most = 4096 };

static Allocation all[most];
static int used;
static Allocation purged[64];  ///< pinned memory, still mapped
static int num_purged;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static size_t mapped_len(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

// Two mappings of the same pages, of which the first can only be named.
static int map_twice(Allocation* one) {
  const size_t len = mapped_len(one->bytes);
  const int memory = memfd_create("device", MFD_CLOEXEC);
  if (memory < 0) return 0;
  one->begin = one->reach = MAP_FAILED;
  if (ftruncate(memory, (off_t)len) == 0) {
    one->begin = mmap(NULL, len, PROT_NONE, MAP_SHARED, memory, 0);
    one->reach = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  close(memory);
  return one->begin != MAP_FAILED && one->reach != MAP_FAILED;
}

// Pinned memory that was purged, where it is large enough.
static int map_again(Allocation* one) {
  int is_found = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < num_purged && !is_found && one->kind == PINNED; i++) {
    is_found = purged[i].bytes >= one->bytes;
    if (!is_found) continue;
    one->begin = one->reach = purged[i].begin;
    purged[i] = purged[--num_purged];
  }
  pthread_mutex_unlock(&mutex);
  return is_found;
}

static int map_once(Allocation* one) {
  if (map_again(one)) return 1;
  one->begin = mmap(NULL, mapped_len(one->bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  one->reach = one->begin;
  return one->begin != MAP_FAILED;
}

static void unmap(const Allocation* one) {
  if (one->kind == REGISTERED) return;
  munmap(one->begin, mapped_len(one->bytes));
  if (one->reach != one->begin) munmap(one->reach, mapped_len(one->bytes));
}

static int add(Allocation* one) {
  static uint64_t next_id = 1;
  pthread_mutex_lock(&mutex);
  const int fits = used < most;
  one->id = next_id++;
  if (fits) all[used++] = *one;
  pthread_mutex_unlock(&mutex);
  return fits;
}

void* memory_allocate(int kind, size_t bytes, void* context, int device) {
  Allocation one = {.kind = kind, .bytes = bytes, .context = context, .device = device};
  if (bytes == 0) return NULL;
  if (!(kind & (DEVICE | POOLED) ? map_twice(&one) : map_once(&one)) || !add(&one)) return NULL;
  // What is not written yet is no zeros.
  memset(one.reach, 0xD7, bytes);
  if (kind == PINNED) count_pinned((long long)bytes);
  return one.begin;
}

void memory_register(void* memory, size_t bytes, void* context, int device) {
  Allocation one = {REGISTERED, memory, bytes, memory, 0, context, device};
  add(&one);
}

int memory_free(void* memory, int kinds) {
  Allocation gone = {0};
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < used && !gone.kind; i++) {
    if (all[i].begin != memory || !(all[i].kind & kinds)) continue;
    gone = all[i];
    all[i] = all[--used];
  }
  pthread_mutex_unlock(&mutex);
  if (!gone.kind) return 0;
  if (gone.kind == PINNED) count_pinned(-(long long)gone.bytes);
  unmap(&gone);
  return 1;
}

void memory_purge(int kinds) {
  const int most_purged = (int)(sizeof purged / sizeof *purged);
  int left = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < used; i++) {
    if (all[i].kind & kinds) {
      all[left++] = all[i];
    } else if (all[i].kind == PINNED && num_purged < most_purged) {
      count_pinned(-(long long)all[i].bytes);
      purged[num_purged++] = all[i];
    } else {
      unmap(&all[i]);
    }
  }
  used = left;
  pthread_mutex_unlock(&mutex);
}

int memory_find(const void* address, Allocation* found) {
  const uintptr_t place = (uintptr_t)address;
  int is_found = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < used && !is_found; i++) {
    const uintptr_t begin = (uintptr_t)all[i].begin;
    is_found = place >= begin && place - begin < all[i].bytes;
    if (is_found) *found = all[i];
  }
  pthread_mutex_unlock(&mutex);
  return is_found;
}

unsigned char* memory_reach(const void* address, size_t bytes) {
  Allocation one;
  if (!memory_find(address, &one)) {
    // The host's, as long as it does not run into a device's.
    if (bytes > 0 && memory_find((const char*)address + bytes - 1, &one) &&
        one.kind & (DEVICE | POOLED)) {
      return NULL;
    }
    return (unsigned char*)address;
  }
  const size_t offset = (size_t)((uintptr_t)address - (uintptr_t)one.begin);
  if (bytes > one.bytes - offset && one.kind & (DEVICE | POOLED)) return NULL;
  return one.reach + offset;
}
