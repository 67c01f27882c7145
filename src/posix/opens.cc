// Stand-ins for functions that open and close descriptors.
#include "base/kept_errno.h"
#include "posix/counting.h"
#include "posix/descriptor_buffers.h"
#include "posix/mapped_files.h"

namespace headrace::posix::counted {
namespace {

using record::AccessCounts;
using record::AccessLayer;
using record::FileOperation;

constexpr OtherKind kOpen = {FileOperation::open, AccessLayer::posix, &AccessCounts::opens};
constexpr OtherKind kClose = {FileOperation::close, AccessLayer::posix, nullptr};
constexpr OtherKind kSync = {FileOperation::sync, AccessLayer::posix, &AccessCounts::syncs};
constexpr OtherKind kMap = {FileOperation::map, AccessLayer::posix, &AccessCounts::maps};
constexpr OtherKind kTruncate = {FileOperation::truncate, AccessLayer::posix, nullptr};

void note_opened(const Call& call, int descriptor, int directory, const char* name, int flags) {
  if (!call.is_counted() || descriptor < 0) return;
  Opening* const opening = note_open(descriptor, AccessLayer::posix, directory, name, flags);
  if (opening == nullptr) return;
  note_other(call, opening->counts(AccessLayer::posix), kOpen);
}

template <class Next>
int open_by_name(int directory, const char* name, int flags, Next next) {
  buffers::release_named(directory, name, flags);
  const Call call;
  const int descriptor = next();
  note_opened(call, descriptor, directory, name, flags);
  if (buffers::are_wanted() && descriptor >= 0) {
    buffers::release_others(descriptor, flags);
    buffers::offer(descriptor, directory, name, flags);
  }
  return descriptor;
}

/// Whether a call of open has a third argument.
bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define HEADRACE_TAKE_MODE(flags) \
  mode_t mode = 0;                \
  if (has_mode(flags)) {          \
    va_list more;                 \
    va_start(more, flags);        \
    mode = va_arg(more, mode_t);  \
    va_end(more);                 \
  }

template <class Next>
int copy_descriptor(int descriptor, Next next) {
  if (buffers::has(descriptor)) buffers::release(descriptor, "it is copied");
  const Call call;
  const int copy = next();
  if (call.is_counted() && copy >= 0) share(descriptor, copy);
  return copy;
}

template <class Next>
int control(int descriptor, int command, Next next) {
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return copy_descriptor(descriptor, next);
  const bool only_asks = command == F_GETFD || command == F_SETFD || command == F_GETFL;
  if (!only_asks && buffers::has(descriptor)) buffers::release(descriptor, "fcntl changes it");
  return next();
}

/// What goes through a ring passes all buffers by.
void make_ring() {
  buffers::stop("the program uses io_uring");
  note_ring();
}

/// The descriptor of the copy is closed if it is open.
template <class Next>
int copy_over(int descriptor, int copy, Next next) {
  if (buffers::has(copy) && copy != descriptor) {
    const auto number = static_cast<unsigned>(copy);
    buffers::end_range(number, number);
  }
  return copy_descriptor(descriptor, next);
}

/// What was held back is in the file first; an error of that is the call's.
template <class Next>
int sync_file(int descriptor, Next next) {
  const int failed = buffers::has(descriptor) ? buffers::flush(descriptor) : 0;
  const int result = next();
  if (failed == 0 || result != 0) return result;
  errno = failed;
  return -1;
}

/// What cannot be written, for lack of space maybe, must not come back behind the file's new end.
template <class Next>
int cut_file(int descriptor, off64_t size, Next next) {
  if (!buffers::has(descriptor)) return next();
  const int failed = buffers::settle_to_cut(descriptor);
  const int result = next();
  buffers::cut(descriptor, result == 0 ? size : -1, failed);
  return result;
}

/// Of calls that neither read nor write.
template <class Next>
auto other_call(int descriptor, const OtherKind& kind, Next next) {
  const Call call;
  const auto result = next();
  if (call.is_counted() && result == 0) {
    note_other(call, counts_of(descriptor, AccessLayer::posix), kind);
  }
  return result;
}

template <class Next>
off64_t seek(int descriptor, off64_t offset, int whence, Next next) {
  const Call call;
  const auto moved =
      buffers::has(descriptor) ? buffers::seek(descriptor, offset, whence) : std::nullopt;
  const off64_t position = moved ? *moved : next();
  if (call.is_counted() && position >= 0) note_seek(call, descriptor, position);
  return position;
}

template <class Next>
void* map(int descriptor, int flags, size_t bytes, off64_t offset, Next next) {
  if ((flags & MAP_ANONYMOUS) != 0 || descriptor < 0) return next();
  if (buffers::has(descriptor)) buffers::release(descriptor, "it is mapped");
  // MAP_SHARED_VALIDATE has this bit, too.
  if (buffers::are_wanted() && (flags & MAP_SHARED) != 0) note_shared_mapping(descriptor);
  const Call call;
  void* const memory = next();
  if (!call.is_counted() || memory == MAP_FAILED) return memory;
  AccessCounts* const counts = counts_of(descriptor, AccessLayer::posix);
  note_other(call, counts, kMap, offset);
  if (counts != nullptr) note_mapped(*counts, static_cast<std::int64_t>(bytes));
  return memory;
}

}  // namespace

int open(const char* name, int flags, ...) {
  HEADRACE_TAKE_MODE(flags)
  return open_by_name(AT_FDCWD, name, flags, [=] { return real.open(name, flags, mode); });
}

int open64(const char* name, int flags, ...) {
  HEADRACE_TAKE_MODE(flags)
  return open_by_name(AT_FDCWD, name, flags, [=] { return real.open64(name, flags, mode); });
}

int openat(int directory, const char* name, int flags, ...) {
  HEADRACE_TAKE_MODE(flags)
  return open_by_name(directory, name, flags,
                      [=] { return real.openat(directory, name, flags, mode); });
}

int openat64(int directory, const char* name, int flags, ...) {
  HEADRACE_TAKE_MODE(flags)
  return open_by_name(directory, name, flags,
                      [=] { return real.openat64(directory, name, flags, mode); });
}

int __open_2(const char* name, int flags) {
  return open_by_name(AT_FDCWD, name, flags, [=] { return real.__open_2(name, flags); });
}

int __open64_2(const char* name, int flags) {
  return open_by_name(AT_FDCWD, name, flags, [=] { return real.__open64_2(name, flags); });
}

int __openat_2(int directory, const char* name, int flags) {
  return open_by_name(directory, name, flags,
                      [=] { return real.__openat_2(directory, name, flags); });
}

int __openat64_2(int directory, const char* name, int flags) {
  return open_by_name(directory, name, flags,
                      [=] { return real.__openat64_2(directory, name, flags); });
}

int creat(const char* name, mode_t mode) {
  return open_by_name(AT_FDCWD, name, O_WRONLY | O_TRUNC, [=] { return real.creat(name, mode); });
}

int creat64(const char* name, mode_t mode) {
  return open_by_name(AT_FDCWD, name, O_WRONLY | O_TRUNC, [=] { return real.creat64(name, mode); });
}

int mkstemp(char* name) {
  return open_by_name(AT_FDCWD, name, O_RDWR, [=] { return real.mkstemp(name); });
}

int mkstemp64(char* name) {
  return open_by_name(AT_FDCWD, name, O_RDWR, [=] { return real.mkstemp64(name); });
}

int mkostemp(char* name, int flags) {
  return open_by_name(AT_FDCWD, name, flags | O_RDWR, [=] { return real.mkostemp(name, flags); });
}

int mkostemp64(char* name, int flags) {
  return open_by_name(AT_FDCWD, name, flags | O_RDWR, [=] { return real.mkostemp64(name, flags); });
}

int mkstemps(char* name, int suffix) {
  return open_by_name(AT_FDCWD, name, O_RDWR, [=] { return real.mkstemps(name, suffix); });
}

int mkstemps64(char* name, int suffix) {
  return open_by_name(AT_FDCWD, name, O_RDWR, [=] { return real.mkstemps64(name, suffix); });
}

int mkostemps(char* name, int suffix, int flags) {
  return open_by_name(AT_FDCWD, name, flags | O_RDWR,
                      [=] { return real.mkostemps(name, suffix, flags); });
}

int mkostemps64(char* name, int suffix, int flags) {
  return open_by_name(AT_FDCWD, name, flags | O_RDWR,
                      [=] { return real.mkostemps64(name, suffix, flags); });
}

/// The number may be another thread's as soon as it is closed, so it is forgotten before.
int close(int descriptor) {
  const Call call;
  AccessCounts* counts = nullptr;
  const int failed = buffers::has(descriptor) ? buffers::end(descriptor) : 0;
  if (call.is_counted()) counts = forget(descriptor, AccessLayer::posix);
  const int result = real.close(descriptor);
  if (counts != nullptr) note_other(call, counts, kClose);
  if (failed == 0 || result != 0) return result;
  errno = failed;
  return -1;
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  const Call call;
  constexpr int kMarksOnly = 4;  // CLOSE_RANGE_CLOEXEC
  if ((flags & kMarksOnly) == 0) {
    buffers::end_range(first, last);
    if (call.is_counted()) forget_range(first, last);
  }
  return real.close_range(first, last, flags);
}

void closefrom(int first) noexcept {
  const Call call;
  const auto begin = static_cast<unsigned>(first < 0 ? 0 : first);
  buffers::end_range(begin, ~0U);
  if (call.is_counted()) forget_range(begin, ~0U);
  real.closefrom(first);
}

int dup(int descriptor) noexcept {
  return copy_descriptor(descriptor, [=] { return real.dup(descriptor); });
}

int dup2(int descriptor, int copy) noexcept {
  return copy_over(descriptor, copy, [=] { return real.dup2(descriptor, copy); });
}

int dup3(int descriptor, int copy, int flags) noexcept {
  return copy_over(descriptor, copy, [=] { return real.dup3(descriptor, copy, flags); });
}

// Whatever the argument is, or whether there is one, it is passed on as a word.
#define HEADRACE_TAKE_WORD(command)       \
  va_list more;                           \
  va_start(more, command);                \
  void* const word = va_arg(more, void*); \
  va_end(more);

int fcntl(int descriptor, int command, ...) {
  HEADRACE_TAKE_WORD(command)
  return control(descriptor, command, [=] { return real.fcntl(descriptor, command, word); });
}

int fcntl64(int descriptor, int command, ...) {
  HEADRACE_TAKE_WORD(command)
  return control(descriptor, command, [=] { return real.fcntl64(descriptor, command, word); });
}

off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return seek(descriptor, offset, whence, [=] { return real.lseek(descriptor, offset, whence); });
}

off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  return seek(descriptor, offset, whence, [=] { return real.lseek64(descriptor, offset, whence); });
}

int fsync(int descriptor) {
  return other_call(descriptor, kSync,
                    [=] { return sync_file(descriptor, [=] { return real.fsync(descriptor); }); });
}

int fdatasync(int descriptor) {
  return other_call(descriptor, kSync, [=] {
    return sync_file(descriptor, [=] { return real.fdatasync(descriptor); });
  });
}

int ftruncate(int descriptor, off_t size) noexcept {
  return other_call(descriptor, kTruncate, [=] {
    return cut_file(descriptor, size, [=] { return real.ftruncate(descriptor, size); });
  });
}

int ftruncate64(int descriptor, off64_t size) noexcept {
  return other_call(descriptor, kTruncate, [=] {
    return cut_file(descriptor, size, [=] { return real.ftruncate64(descriptor, size); });
  });
}

void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  return map(descriptor, flags, bytes, offset,
             [=] { return real.mmap(at, bytes, protection, flags, descriptor, offset); });
}

void* mmap64(void* at, size_t bytes, int protection, int flags, int descriptor,
             off64_t offset) noexcept {
  return map(descriptor, flags, bytes, offset,
             [=] { return real.mmap64(at, bytes, protection, flags, descriptor, offset); });
}

int io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  make_ring();
  return real.io_uring_queue_init(entries, ring, flags);
}

int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  make_ring();
  return real.io_uring_queue_init_params(entries, ring, parameters);
}

int io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory,
                            size_t bytes) {
  make_ring();
  return real.io_uring_queue_init_mem(entries, ring, parameters, memory, bytes);
}

}  // namespace headrace::posix::counted
