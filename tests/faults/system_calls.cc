#include "faults/system_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "faults/injector.h"
#include "sim/one_mapping.h"

namespace headrace::faults {
namespace {

constexpr int kNobody = -1;
constexpr int kMaxDescriptors = 4096;

std::atomic<bool> are_files_struck = false;

/// The rank that opened a descriptor, plus one; 0 where the engine did not open it.
std::array<std::atomic<int>, kMaxDescriptors> owners;

int owner_of(int descriptor) {
  return descriptor < 0 || descriptor >= kMaxDescriptors
             ? kNobody
             : owners[static_cast<std::size_t>(descriptor)].load() - 1;
}

void set_owner(int descriptor, int rank) {
  if (descriptor >= 0 && descriptor < kMaxDescriptors) {
    owners[static_cast<std::size_t>(descriptor)] = rank + 1;
  }
}

std::optional<Strike> strike_file(Operation operation, int descriptor, ByteCount len = 0) {
  const int rank = owner_of(descriptor);
  if (rank == kNobody || !are_files_struck) return std::nullopt;
  return Injector::instance().strike(operation, rank, len);
}

/// Whether a call that makes shared memory is struck; then errno is set.
bool fails_to_share() {
  if (!is_in_engine() || !Injector::instance().strike(Operation::share, rank_of_thread(), 0)) {
    return false;
  }
  errno = ENOMEM;
  return true;
}

/// A call that does all or nothing.
template <class Call>
int whole(Operation operation, int descriptor, Call call) {
  if (const auto struck = strike_file(operation, descriptor)) {
    errno = struck->system_error;
    return -1;
  }
  return call();
}

/// A call that moves bytes. What comes before an error was moved by a call of its own, as the
/// system does it: an error is told where nothing was moved.
template <class Call>
ssize_t move(Operation operation, int descriptor, const iovec* list, int count, Call call) {
  std::vector<iovec> pieces;
  ByteCount len = 0;
  {
    const OutsideEngine outside;
    pieces.assign(list, list + count);
    for (const iovec& piece : pieces) len += static_cast<ByteCount>(piece.iov_len);
  }
  const auto struck = strike_file(operation, descriptor, len);
  ssize_t moved = 0;
  if (!struck) {
    moved = call(list, count);
  } else if (struck->bytes > 0) {
    ByteCount room = struck->bytes;
    for (iovec& piece : pieces) {
      piece.iov_len = std::min(piece.iov_len, static_cast<std::size_t>(room));
      room -= static_cast<ByteCount>(piece.iov_len);
    }
    moved = call(pieces.data(), count);
  }
  const int saved = struck && moved == 0 ? struck->system_error : errno;
  {
    const OutsideEngine outside;
    pieces = {};
  }
  errno = saved;
  return struck && moved == 0 ? -1 : moved;
}

/// What a thread of the engine begins with.
struct Start {
  void* (*run)(void*);
  void* argument;
};

void* run_in_engine(void* start) {
  const Start what = *static_cast<Start*>(start);
  delete static_cast<Start*>(start);
  const InEngine inside(kNobody);
  return what.run(what.argument);
}

}  // namespace

void strike_system_calls(bool strikes) {
  are_files_struck = strikes;
  sim::let_mappings_fail(&fails_to_share);
}

}  // namespace headrace::faults

using headrace::faults::fails_to_share;
using headrace::faults::kNobody;
using headrace::faults::move;
using headrace::faults::Operation;
using headrace::faults::OutsideEngine;
using headrace::faults::owner_of;
using headrace::faults::whole;

// The names that storage and exchange are compiled to, with offsets of 64 bits.
extern "C" {

int __real_open64(const char*, int, ...);
int __real_close(int);
int __real_unlinkat(int, const char*, int);
int __real_fstat64(int, struct stat64*);
int __real_ftruncate64(int, off64_t);
int __real_fallocate64(int, int, off64_t, off64_t);
int __real_posix_fallocate64(int, off64_t, off64_t);
int __real_fsync(int);
int __real_fcntl64(int, int, ...);
int __real_memfd_create(const char*, unsigned);
int __real_shm_open(const char*, int, mode_t);
int __real_nanosleep(const timespec*, timespec*);
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
ssize_t __real_pread64(int, void*, std::size_t, off64_t);
ssize_t __real_pwrite64(int, const void*, std::size_t, off64_t);
ssize_t __real_preadv64(int, const iovec*, int, off64_t);
ssize_t __real_pwritev64(int, const iovec*, int, off64_t);

int __wrap_open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const bool is_file = headrace::faults::are_files_struck && headrace::faults::is_in_engine() &&
                       std::strncmp(path, "/proc/", 6) != 0;
  if (!is_file) return __real_open64(path, flags, mode);
  const int rank = headrace::faults::rank_of_thread();
  if (const auto struck = headrace::faults::Injector::instance().strike(Operation::open, rank, 0)) {
    errno = struck->system_error;
    return -1;
  }
  const int descriptor = __real_open64(path, flags, mode);
  // Of a directory that is only held no call is struck.
  if ((flags & O_PATH) == 0) headrace::faults::set_owner(descriptor, rank);
  return descriptor;
}

// The system frees a descriptor even where closing it fails.
int __wrap_close(int descriptor) {
  if (owner_of(descriptor) == kNobody) return __real_close(descriptor);
  const auto struck = headrace::faults::strike_file(Operation::close, descriptor);
  headrace::faults::set_owner(descriptor, kNobody);
  const int result = __real_close(descriptor);
  if (!struck) return result;
  errno = struck->system_error;
  return -1;
}

int __wrap_unlinkat(int directory, const char* name, int flags) {
  if (headrace::faults::are_files_struck && headrace::faults::is_in_engine()) {
    if (const auto struck = headrace::faults::Injector::instance().strike(
            Operation::remove, headrace::faults::rank_of_thread(), 0)) {
      errno = struck->system_error;
      return -1;
    }
  }
  return __real_unlinkat(directory, name, flags);
}

int __wrap_fstat64(int descriptor, struct stat64* status) {
  return whole(Operation::size, descriptor, [&] { return __real_fstat64(descriptor, status); });
}

int __wrap_ftruncate64(int descriptor, off64_t size) {
  if (owner_of(descriptor) == kNobody && fails_to_share()) return -1;
  return whole(Operation::resize, descriptor, [&] { return __real_ftruncate64(descriptor, size); });
}

int __wrap_fallocate64(int descriptor, int mode, off64_t offset, off64_t len) {
  return whole(Operation::allocate, descriptor,
               [&] { return __real_fallocate64(descriptor, mode, offset, len); });
}

int __wrap_posix_fallocate64(int descriptor, off64_t offset, off64_t len) {
  return fails_to_share() ? ENOSPC : __real_posix_fallocate64(descriptor, offset, len);
}

int __wrap_fsync(int descriptor) {
  return whole(Operation::sync, descriptor, [&] { return __real_fsync(descriptor); });
}

// Of this call only locks are struck. One is given up on this node, whatever the server says. A
// file that moves to another descriptor keeps its owner.
int __wrap_fcntl64(int descriptor, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const auto call = [&] { return __real_fcntl64(descriptor, command, argument); };
  if (command == F_DUPFD_CLOEXEC) {
    const int number = call();
    if (number >= 0) {
      headrace::faults::set_owner(number, owner_of(descriptor));
      headrace::faults::set_owner(descriptor, kNobody);
    }
    return number;
  }
  if (command != F_OFD_SETLK && command != F_OFD_SETLKW) return call();
  if (static_cast<struct flock*>(argument)->l_type != F_UNLCK) {
    return whole(Operation::lock, descriptor, call);
  }
  const int result = call();
  return whole(Operation::lock, descriptor, [&] { return result; });
}

int __wrap_memfd_create(const char* name, unsigned flags) {
  return fails_to_share() ? -1 : __real_memfd_create(name, flags);
}

int __wrap_shm_open(const char* name, int flags, mode_t mode) {
  return fails_to_share() ? -1 : __real_shm_open(name, flags, mode);
}

/// One that does not fit into a string without memory, as most names with a domain.
int __wrap_gethostname(char* name, std::size_t size) {
  constexpr std::string_view kName = "node-17.cluster.example";
  const std::size_t len = std::min(kName.size(), size - 1);
  name[kName.copy(name, len)] = '\0';
  return 0;
}

/// The pause before a call that was to be tried again: nothing changes meanwhile.
int __wrap_nanosleep(const timespec* time, timespec* left) {
  return headrace::faults::is_in_engine() ? 0 : __real_nanosleep(time, left);
}

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) {
  if (!headrace::faults::is_in_engine()) {
    return __real_pthread_create(thread, attributes, run, argument);
  }
  const OutsideEngine outside;
  const int rank = headrace::faults::rank_of_thread();
  if (headrace::faults::Injector::instance().strike(Operation::thread, rank, 0)) return EAGAIN;
  auto start = std::make_unique<headrace::faults::Start>(run, argument);
  const int failed =
      __real_pthread_create(thread, attributes, &headrace::faults::run_in_engine, start.get());
  if (failed == 0) static_cast<void>(start.release());
  return failed;
}

ssize_t __wrap_pread64(int descriptor, void* to, std::size_t len, off64_t at) {
  const iovec whole_list{to, len};
  return move(Operation::read, descriptor, &whole_list, 1, [&](const iovec* list, int) {
    return __real_pread64(descriptor, list->iov_base, list->iov_len, at);
  });
}

ssize_t __wrap_pwrite64(int descriptor, const void* from, std::size_t len, off64_t at) {
  const iovec whole_list{const_cast<void*>(from), len};
  return move(Operation::write, descriptor, &whole_list, 1, [&](const iovec* list, int) {
    return __real_pwrite64(descriptor, list->iov_base, list->iov_len, at);
  });
}

ssize_t __wrap_preadv64(int descriptor, const iovec* list, int count, off64_t at) {
  return move(Operation::read, descriptor, list, count, [&](const iovec* pieces, int number) {
    return __real_preadv64(descriptor, pieces, number, at);
  });
}

ssize_t __wrap_pwritev64(int descriptor, const iovec* list, int count, off64_t at) {
  return move(Operation::write, descriptor, list, count, [&](const iovec* pieces, int number) {
    return __real_pwritev64(descriptor, pieces, number, at);
  });
}

}  // extern "C"
