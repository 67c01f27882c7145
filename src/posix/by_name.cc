// Stand-ins for functions that must find a file as the program has written it, whatever its buffer
// holds back. They are led here only if files get buffers.
#include <cerrno>
#include <cstdarg>

#include "posix/counting.h"
#include "posix/descriptor_buffers.h"
#include "posix/stand_ins.h"

namespace headrace::posix::counted {
namespace {

void settle(int descriptor) {
  if (buffers::has(descriptor)) buffers::settle(descriptor);
}

void release(int descriptor, const char* why) {
  if (buffers::has(descriptor)) buffers::release(descriptor, why);
}

/// What the file's buffer holds back counts, too: then it is asked again.
template <class Status, class Next>
int look(const Status* status, Next next) {
  const int result = next();
  if (result != 0 || !buffers::any()) return result;
  return buffers::settle_same(status->st_dev, status->st_ino) ? next() : result;
}

template <class Next>
int look_at(int descriptor, Next next) {
  settle(descriptor);
  return next();
}

template <class Next>
int cut_named(const char* path, off64_t size, Next next) {
  buffers::settle_named(AT_FDCWD, path);
  const int result = next();
  if (result == 0) buffers::cut_named(path, size);
  return result;
}

/// Other modes change bytes or move them: what is held back must be in the file before.
template <class Next>
int allocate(int descriptor, int mode, Next next) {
  if (mode == 0 || mode == FALLOC_FL_KEEP_SIZE) return look_at(descriptor, next);
  const int failed = buffers::has(descriptor) ? buffers::flush(descriptor) : 0;
  if (failed == 0) return next();
  errno = failed;
  return -1;
}

constexpr const char* kLocked = "it is locked";
constexpr const char* kControlled = "ioctl changes it";
constexpr const char* kPrinted = "dprintf writes to it";
constexpr const char* kAsynchronous = "aio uses it";

/// Whether a request only asks about the descriptor.
bool only_asks(unsigned long request) {
  return request == TCGETS || request == FIOCLEX || request == FIONCLEX || request == TIOCGWINSZ;
}

template <class Control>
void release_list(Control* const* list, int count) {
  if (!buffers::any() || list == nullptr) return;
  for (int i = 0; i < count; ++i) {
    if (list[i] != nullptr) release(list[i]->aio_fildes, kAsynchronous);
  }
}

/// Null is allowed, too (Linux 6.11), or is a question whether the call exists. glibc declares that
/// it is never null, and the compiler would believe that.
bool is_empty(const char* path) {
  asm("" : "+r"(path));
  return path == nullptr || *path == '\0';
}

void release_sent(const msghdr& message) {
  if (buffers::any() && message.msg_controllen > 0) buffers::release_all("descriptors are sent");
}

}  // namespace

// clang-format off
// NOLINTBEGIN
#define HEADRACE_LOOK(name, parameters, arguments) \
  int name parameters noexcept { return look(status, [=] { return real.name arguments; }); }
#define HEADRACE_LOOK_AT(name, parameters, arguments) \
  int name parameters noexcept { return look_at(descriptor, [=] { return real.name arguments; }); }
#define HEADRACE_NAMED(name, directory, parameters, arguments) \
  int name parameters noexcept { \
    buffers::settle_named(directory, path); \
    return real.name arguments; \
  }

HEADRACE_LOOK(stat, (const char* path, struct ::stat* status), (path, status))
HEADRACE_LOOK(stat64, (const char* path, struct ::stat64* status), (path, status))
HEADRACE_LOOK(lstat, (const char* path, struct ::stat* status), (path, status))
HEADRACE_LOOK(lstat64, (const char* path, struct ::stat64* status), (path, status))
HEADRACE_LOOK(fstatat, (int at, const char* path, struct ::stat* status, int flags),
              (at, path, status, flags))
HEADRACE_LOOK(fstatat64, (int at, const char* path, struct ::stat64* status, int flags),
              (at, path, status, flags))
HEADRACE_LOOK(__xstat, (int kind, const char* path, struct ::stat* status), (kind, path, status))
HEADRACE_LOOK(__xstat64, (int kind, const char* path, struct ::stat64* status), (kind, path, status))
HEADRACE_LOOK(__lxstat, (int kind, const char* path, struct ::stat* status), (kind, path, status))
HEADRACE_LOOK(__lxstat64, (int kind, const char* path, struct ::stat64* status),
              (kind, path, status))
HEADRACE_LOOK(__fxstatat, (int kind, int at, const char* path, struct ::stat* status, int flags),
              (kind, at, path, status, flags))
HEADRACE_LOOK(__fxstatat64, (int kind, int at, const char* path, struct ::stat64* status, int flags),
              (kind, at, path, status, flags))

HEADRACE_LOOK_AT(fstat, (int descriptor, struct ::stat* status), (descriptor, status))
HEADRACE_LOOK_AT(fstat64, (int descriptor, struct ::stat64* status), (descriptor, status))
HEADRACE_LOOK_AT(__fxstat, (int kind, int descriptor, struct ::stat* status),
                 (kind, descriptor, status))
HEADRACE_LOOK_AT(__fxstat64, (int kind, int descriptor, struct ::stat64* status),
                 (kind, descriptor, status))
HEADRACE_LOOK_AT(futimes, (int descriptor, const ::timeval times[2]), (descriptor, times))
HEADRACE_LOOK_AT(futimens, (int descriptor, const ::timespec times[2]), (descriptor, times))
HEADRACE_LOOK_AT(fchmod, (int descriptor, mode_t mode), (descriptor, mode))
HEADRACE_LOOK_AT(fchown, (int descriptor, uid_t user, gid_t group), (descriptor, user, group))
HEADRACE_LOOK_AT(syncfs, (int descriptor), (descriptor))

HEADRACE_NAMED(utime, AT_FDCWD, (const char* path, const ::utimbuf* times), (path, times))
HEADRACE_NAMED(utimes, AT_FDCWD, (const char* path, const ::timeval times[2]), (path, times))
HEADRACE_NAMED(utimensat, at, (int at, const char* path, const ::timespec times[2], int flags),
               (at, path, times, flags))
HEADRACE_NAMED(chmod, AT_FDCWD, (const char* path, mode_t mode), (path, mode))
HEADRACE_NAMED(fchmodat, at, (int at, const char* path, mode_t mode, int flags),
               (at, path, mode, flags))
HEADRACE_NAMED(chown, AT_FDCWD, (const char* path, uid_t user, gid_t group), (path, user, group))
HEADRACE_NAMED(fchownat, at, (int at, const char* path, uid_t user, gid_t group, int flags),
               (at, path, user, group, flags))
// NOLINTEND
// clang-format on

int truncate(const char* path, off_t size) noexcept {
  return cut_named(path, size, [=] { return real.truncate(path, size); });
}

int truncate64(const char* path, off64_t size) noexcept {
  return cut_named(path, size, [=] { return real.truncate64(path, size); });
}

/// Tells what it knows in words of its own.
int statx(int directory, const char* path, int flags, unsigned mask,
          struct ::statx* status) noexcept {
  if (is_empty(path) && directory >= 0) {
    settle(directory);
  } else {
    buffers::settle_named(directory, path, flags & AT_SYMLINK_NOFOLLOW);
  }
  return real.statx(directory, path, flags, mask, status);
}

int posix_fallocate(int descriptor, off_t begin, off_t bytes) {
  settle(descriptor);
  return real.posix_fallocate(descriptor, begin, bytes);
}

int posix_fallocate64(int descriptor, off64_t begin, off64_t bytes) {
  settle(descriptor);
  return real.posix_fallocate64(descriptor, begin, bytes);
}

int fallocate(int descriptor, int mode, off_t begin, off_t bytes) {
  return allocate(descriptor, mode, [=] { return real.fallocate(descriptor, mode, begin, bytes); });
}

int fallocate64(int descriptor, int mode, off64_t begin, off64_t bytes) {
  return allocate(descriptor, mode,
                  [=] { return real.fallocate64(descriptor, mode, begin, bytes); });
}

void sync() noexcept {
  buffers::settle_all();
  real.sync();
}

int sync_file_range(int descriptor, off64_t begin, off64_t bytes, unsigned flags) {
  settle(descriptor);
  return real.sync_file_range(descriptor, begin, bytes, flags);
}

ssize_t readahead(int descriptor, off64_t begin, size_t bytes) noexcept {
  settle(descriptor);
  return real.readahead(descriptor, begin, bytes);
}

int flock(int descriptor, int operation) noexcept {
  release(descriptor, kLocked);
  return real.flock(descriptor, operation);
}

int lockf(int descriptor, int command, off_t bytes) {
  release(descriptor, kLocked);
  return real.lockf(descriptor, command, bytes);
}

int lockf64(int descriptor, int command, off64_t bytes) {
  release(descriptor, kLocked);
  return real.lockf64(descriptor, command, bytes);
}

int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* const word = va_arg(more, void*);
  va_end(more);
  if (request == FIONREAD) {
    // It counts from the kernel's position.
    release(descriptor, kControlled);
  } else if (!only_asks(request)) {
    release(descriptor, kControlled);
    // It may name another descriptor (FICLONE).
    if (buffers::any()) buffers::settle_all();
  }
  return real.ioctl(descriptor, request, word);
}

int aio_read(aiocb* control) noexcept {
  release_list(&control, 1);
  return real.aio_read(control);
}

int aio_read64(aiocb64* control) noexcept {
  release_list(&control, 1);
  return real.aio_read64(control);
}

int aio_write(aiocb* control) noexcept {
  release_list(&control, 1);
  return real.aio_write(control);
}

int aio_write64(aiocb64* control) noexcept {
  release_list(&control, 1);
  return real.aio_write64(control);
}

int aio_fsync(int operation, aiocb* control) noexcept {
  release_list(&control, 1);
  return real.aio_fsync(operation, control);
}

int aio_fsync64(int operation, aiocb64* control) noexcept {
  release_list(&control, 1);
  return real.aio_fsync64(operation, control);
}

int lio_listio(int mode, aiocb* const* list, int count, sigevent* event) noexcept {
  release_list(list, count);
  return real.lio_listio(mode, list, count, event);
}

int lio_listio64(int mode, aiocb64* const* list, int count, sigevent* event) noexcept {
  release_list(list, count);
  return real.lio_listio64(mode, list, count, event);
}

int vdprintf(int descriptor, const char* format, va_list values) {
  release(descriptor, kPrinted);
  return real.vdprintf(descriptor, format, values);
}

int __vdprintf_chk(int descriptor, int flag, const char* format, va_list values) {
  release(descriptor, kPrinted);
  return real.__vdprintf_chk(descriptor, flag, format, values);
}

int dprintf(int descriptor, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int written = counted::vdprintf(descriptor, format, values);
  va_end(values);
  return written;
}

int __dprintf_chk(int descriptor, int flag, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int written = counted::__vdprintf_chk(descriptor, flag, format, values);
  va_end(values);
  return written;
}

/// It writes inside the C library.
void backtrace_symbols_fd(void* const* addresses, int count, int descriptor) noexcept {
  release(descriptor, "backtrace_symbols_fd writes to it");
  real.backtrace_symbols_fd(addresses, count, descriptor);
}

/// Who gets a descriptor has its position, too.
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  if (message != nullptr) release_sent(*message);
  return real.sendmsg(socket, message, flags);
}

int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  for (unsigned i = 0; messages != nullptr && i < count; ++i) release_sent(messages[i].msg_hdr);
  return real.sendmmsg(socket, messages, count, flags);
}

// These ask for each file inside the C library.

int ftw(const char* path, __ftw_func_t function, int descriptors) {
  buffers::settle_all();
  return real.ftw(path, function, descriptors);
}

int ftw64(const char* path, __ftw64_func_t function, int descriptors) {
  buffers::settle_all();
  return real.ftw64(path, function, descriptors);
}

int nftw(const char* path, __nftw_func_t function, int descriptors, int flags) {
  buffers::settle_all();
  return real.nftw(path, function, descriptors, flags);
}

int nftw64(const char* path, __nftw64_func_t function, int descriptors, int flags) {
  buffers::settle_all();
  return real.nftw64(path, function, descriptors, flags);
}

}  // namespace headrace::posix::counted
