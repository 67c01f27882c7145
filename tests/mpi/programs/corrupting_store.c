// A storage that changes one byte on its way and reports success: the byte at offset CORRUPT_AT of
// each file whose name contains CORRUPT_NAME. Preload it in front of the layer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static off_t offset_to_corrupt(int descriptor) {
  const char* at = getenv("CORRUPT_AT");
  const char* name = getenv("CORRUPT_NAME");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = at && name ? readlink(link, path, sizeof path - 1) : -1;
  if (length < 0) return -1;
  path[length] = 0;
  return strstr(path, name) ? (off_t)atoll(at) : -1;
}

static ssize_t write_corrupted(int descriptor, const void* data, size_t bytes, off_t offset) {
  ssize_t (*next)(int, const void*, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite64");
  off_t at = offset_to_corrupt(descriptor);
  if (at < offset || at >= offset + (off_t)bytes) return next(descriptor, data, bytes, offset);
  char* copy = malloc(bytes);
  memcpy(copy, data, bytes);
  copy[at - offset] ^= 0x20;
  ssize_t done = next(descriptor, copy, bytes, offset);
  free(copy);
  return done;
}

static ssize_t writev_corrupted(int descriptor, const struct iovec* list, int count, off_t offset) {
  ssize_t (*next)(int, const struct iovec*, int, off_t) = dlsym(RTLD_NEXT, "pwritev64");
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += list[i].iov_len;
  off_t at = offset_to_corrupt(descriptor);
  if (at < offset || at >= offset + (off_t)bytes) return next(descriptor, list, count, offset);
  char* all = malloc(bytes);
  size_t used = 0;
  for (int i = 0; i < count; used += list[i++].iov_len) {
    memcpy(all + used, list[i].iov_base, list[i].iov_len);
  }
  ssize_t done = write_corrupted(descriptor, all, bytes, offset);
  free(all);
  return done;
}

ssize_t pwrite(int d, const void* data, size_t n, off_t at) {
  return write_corrupted(d, data, n, at);
}
ssize_t pwrite64(int d, const void* data, size_t n, off_t at) {
  return write_corrupted(d, data, n, at);
}
ssize_t pwritev(int d, const struct iovec* list, int n, off_t at) {
  return writev_corrupted(d, list, n, at);
}
ssize_t pwritev64(int d, const struct iovec* list, int n, off_t at) {
  return writev_corrupted(d, list, n, at);
}
