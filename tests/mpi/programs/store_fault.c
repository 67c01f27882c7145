// Preloaded beside the layer: file calls on one file, or what the layer asks of memory, fail as
// they are told to. Everything else, and every call while no fault is armed, goes on unchanged.
#define _GNU_SOURCE
#include "store_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
  atomic_int armed;
  atomic_int met;
  char path[1024];
  struct stat status;
  StoreFault fault;
  int* counter;
  uintptr_t code_begin, code_end;  ///< the layer's, whose memory fails
} store;

static int is_file(int descriptor) {
  struct stat status;
  int before = errno;
  int known = syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) == 0;
  errno = before;
  return known && status.st_dev == store.status.st_dev && status.st_ino == store.status.st_ino;
}

static void change_surroundings(void) {
  char copy[sizeof store.path];
  if (store.fault.truncate >= 0 && truncate(store.path, store.fault.truncate) != 0) {
    perror(store.path);
  }
  if (store.fault.signal) raise(store.fault.signal);
  if (store.fault.remove) {
    syscall(SYS_unlink, store.path);
    rmdir(dirname(strcpy(copy, store.path)));
  }
  if (store.fault.poke) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, store.fault.poke, O_WRONLY);
    if (descriptor < 0 || write(descriptor, "1", 1) != 1) perror(store.fault.poke);
    syscall(SYS_close, descriptor);
  }
}

// Whether this call is met by the fault; then errno is set.
static int meets(int call) {
  if (!atomic_load(&store.armed) || call != store.fault.call) return 0;
  // Who sees it counted may arm another one.
  StoreFault fault = store.fault;
  int number = __atomic_fetch_add(store.counter, 1, __ATOMIC_SEQ_CST);
  if (number < fault.first) return 0;
  if (fault.times && number >= fault.first + fault.times) return 0;
  if (number == fault.first) change_surroundings();
  atomic_fetch_add(&store.met, 1);
  errno = fault.error;
  return 1;
}

static int meets_file(int call, int descriptor) {
  return atomic_load(&store.armed) && call == store.fault.call && is_file(descriptor) &&
         meets(call);
}

static int meets_path(int call, const char* path) {
  return atomic_load(&store.armed) && strcmp(path, store.path) == 0 && meets(call);
}

static int meets_entry(int call, int directory, const char* name) {
  struct stat given, own;
  int before = errno;
  int is_own = atomic_load(&store.armed) &&
               syscall(SYS_newfstatat, directory, name, &given, AT_SYMLINK_NOFOLLOW) == 0 &&
               syscall(SYS_newfstatat, AT_FDCWD, store.path, &own, AT_SYMLINK_NOFOLLOW) == 0 &&
               given.st_dev == own.st_dev && given.st_ino == own.st_ino;
  errno = before;
  return is_own && meets(call);
}

// The pieces of a transfer, fewer where it is to be short. Returns their number.
static int shorten(const struct iovec* pieces, int count, struct iovec* fewer) {
  size_t room = store.fault.most ? (size_t)store.fault.most : (size_t)-1;
  int used = 0;
  for (; used < count && room > 0; used++) {
    fewer[used] = pieces[used];
    if (fewer[used].iov_len > room) fewer[used].iov_len = room;
    room -= fewer[used].iov_len;
  }
  return used;
}

static ssize_t move(int call, int descriptor, const struct iovec* pieces, int count, off_t offset) {
  struct iovec fewer[1024];
  long number = call == STORE_WRITE ? SYS_pwritev : SYS_preadv;
  if (meets_file(call, descriptor)) {
    if (store.fault.error) return -1;
    count = shorten(pieces, count, fewer);
    pieces = fewer;
  }
  return syscall(number, descriptor, pieces, count, offset, 0);
}

ssize_t preadv(int descriptor, const struct iovec* pieces, int count, off_t offset) {
  return move(STORE_READ, descriptor, pieces, count, offset);
}

ssize_t pwritev(int descriptor, const struct iovec* pieces, int count, off_t offset) {
  return move(STORE_WRITE, descriptor, pieces, count, offset);
}

ssize_t pread(int descriptor, void* data, size_t size, off_t offset) {
  return preadv(descriptor, &(struct iovec){data, size}, 1, offset);
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  return pwritev(descriptor, &(struct iovec){(void*)data, size}, 1, offset);
}

int fsync(int descriptor) {
  if (meets_file(STORE_SYNC, descriptor) && store.fault.error) return -1;
  return (int)syscall(SYS_fsync, descriptor);
}

// As the kernel: the descriptor is gone also where close fails.
int close(int descriptor) {
  int fails = meets_file(STORE_CLOSE, descriptor) && store.fault.error;
  int error = errno;
  int result = (int)syscall(SYS_close, descriptor);
  if (!fails) return result;
  errno = error;
  return -1;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int mode = (flags & O_CREAT) ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (meets_path(STORE_OPEN, path) && store.fault.error) return -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fstat(int descriptor, struct stat* status) {
  if (meets_file(STORE_SIZE, descriptor) && store.fault.error) return -1;
  return (int)syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH);
}

int ftruncate(int descriptor, off_t size) {
  if (meets_file(STORE_RESIZE, descriptor) && store.fault.error) return -1;
  return (int)syscall(SYS_ftruncate, descriptor, size);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (meets_file(STORE_ALLOCATE, descriptor) && store.fault.error) return -1;
  return (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}

int unlinkat(int directory, const char* name, int flags) {
  if (meets_entry(STORE_DELETE, directory, name) && store.fault.error) return -1;
  return (int)syscall(SYS_unlinkat, directory, name, flags);
}

int unlink(const char* path) {
  return unlinkat(AT_FDCWD, path, 0);
}

// The C library's own, which no dlsym has to find while there is no memory yet.
void* __libc_malloc(size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static int meets_memory(const void* caller) {
  if (!atomic_load(&store.armed) || store.fault.call != STORE_MEMORY) return 0;
  uintptr_t place = (uintptr_t)caller;
  int is_layer = place >= store.code_begin && place < store.code_end;
  return is_layer && meets(STORE_MEMORY) && store.fault.error;
}

void* malloc(size_t size) {
  return meets_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void* realloc(void* memory, size_t size) {
  return meets_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return meets_memory(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

static int note_code(struct dl_phdr_info* object, size_t size, void* nothing) {
  (void)size, (void)nothing;
  if (!strstr(object->dlpi_name, "/libheadrace.so")) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    store.code_begin = object->dlpi_addr + part->p_vaddr;
    store.code_end = store.code_begin + part->p_memsz;
  }
  return 1;
}

// The names of large files: on 64 bits the same functions.
#define SAME(name) __attribute__((alias(#name)))
ssize_t preadv64(int, const struct iovec*, int, off64_t) SAME(preadv);
ssize_t pwritev64(int, const struct iovec*, int, off64_t) SAME(pwritev);
ssize_t pread64(int, void*, size_t, off64_t) SAME(pread);
ssize_t pwrite64(int, const void*, size_t, off64_t) SAME(pwrite);
int open64(const char*, int, ...) SAME(open);
int fstat64(int, struct stat64*) __attribute__((alias("fstat")));
int ftruncate64(int, off64_t) SAME(ftruncate);
int fallocate64(int, int, off64_t, off64_t) SAME(fallocate);

void store_fault_arm(const char* path, const StoreFault* fault, int* counter) {
  snprintf(store.path, sizeof store.path, "%s", path);
  memset(&store.status, 0, sizeof store.status);
  stat(path, &store.status);
  store.fault = *fault;
  store.counter = counter;
  dl_iterate_phdr(note_code, NULL);
  atomic_store(&store.met, 0);
  atomic_store(&store.armed, 1);
}

int store_fault_disarm(void) {
  atomic_store(&store.armed, 0);
  return atomic_load(&store.met);
}
