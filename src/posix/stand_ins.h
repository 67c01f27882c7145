#pragma once

#include <aio.h>
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

// What compilers call in the place of others (_FORTIFY_SOURCE), functions of liburing, and what
// glibc declares since 2.34. They are never called by these declarations, which say what type they
// have.
extern "C" {
int close_range(unsigned, unsigned, int) noexcept;
void closefrom(int) noexcept;
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
char* __fgets_chk(char*, size_t, int, FILE*);
int __fprintf_chk(FILE*, int, const char*, ...);
int __printf_chk(int, const char*, ...);
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vprintf_chk(int, const char*, va_list);
int __xstat(int, const char*, struct stat*) noexcept;
int __xstat64(int, const char*, struct stat64*) noexcept;
int __lxstat(int, const char*, struct stat*) noexcept;
int __lxstat64(int, const char*, struct stat64*) noexcept;
int __fxstat(int, int, struct stat*) noexcept;
int __fxstat64(int, int, struct stat64*) noexcept;
int __fxstatat(int, int, const char*, struct stat*, int) noexcept;
int __fxstatat64(int, int, const char*, struct stat64*, int) noexcept;
int __dprintf_chk(int, int, const char*, ...);
int __vdprintf_chk(int, int, const char*, va_list);
pid_t _Fork() noexcept;
pid_t __vfork() noexcept;
int __clone(int (*)(void*), void*, int, void*, ...) noexcept;
int execveat(int, const char*, char* const*, char* const*, int) noexcept;
void __longjmp_chk(__jmp_buf_tag*, int) noexcept;
ssize_t __getdelim(char**, size_t*, int, FILE*);
void __assert_fail(const char*, const char*, unsigned, const char*) noexcept;
void __assert_perror_fail(int, const char*, unsigned, const char*) noexcept;
void __assert(const char*, const char*, int) noexcept;
int io_uring_queue_init(unsigned, void*, unsigned);
int io_uring_queue_init_params(unsigned, void*, void*);
int io_uring_queue_init_mem(unsigned, void*, void*, void*, size_t);
}

/// The functions of the C library that are looked at: calls of the program's objects are led to
/// stand-ins of the same types, by their slots (base/elf_object.h). This library's own calls are
/// not.
namespace headrace::posix {

// clang-format off
/// Of descriptors and opening: for counts and for buffers.
#define HEADRACE_DESCRIPTOR_FUNCTIONS(X) \
  X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) \
  X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) \
  X(mkstemp) X(mkstemp64) X(mkostemp) X(mkostemp64) X(mkstemps) X(mkstemps64) \
  X(mkostemps) X(mkostemps64) \
  X(close) X(close_range) X(closefrom) X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64) \
  X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64) X(preadv2) X(preadv64v2) \
  X(__read_chk) X(__pread_chk) X(__pread64_chk) \
  X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2) \
  X(lseek) X(lseek64) X(fsync) X(fdatasync) X(ftruncate) X(ftruncate64) X(mmap) X(mmap64) \
  X(sendfile) X(sendfile64) X(copy_file_range) X(splice) X(aio_return) X(aio_return64) \
  X(fopen) X(fopen64) X(freopen) X(freopen64) X(fdopen) X(fclose) X(fflush) \
  X(fseek) X(fseeko) X(fseeko64) X(rewind) X(fsetpos) X(fsetpos64) \
  X(io_uring_queue_init) X(io_uring_queue_init_params) X(io_uring_queue_init_mem)

/// What may start a child that shares this memory: for counts and for buffers.
#define HEADRACE_CHILD_FUNCTIONS(X) X(vfork) X(__vfork) X(clone) X(__clone) X(syscall)

/// Of streams: for counts alone.
#define HEADRACE_COUNTED_FUNCTIONS(X) \
  X(fread) X(fread_unlocked) X(__fread_chk) X(fgets) X(fgets_unlocked) X(__fgets_chk) \
  X(getline) X(getdelim) X(__getdelim) \
  X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts) \
  X(fprintf) X(vfprintf) X(printf) X(vprintf) \
  X(__fprintf_chk) X(__vfprintf_chk) X(__printf_chk) X(__vprintf_chk)

/// What must find files as the program has written them: for buffers alone.
#define HEADRACE_BUFFER_FUNCTIONS(X) \
  X(stat) X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) X(fstatat) X(fstatat64) X(statx) \
  X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat) X(__fxstat64) \
  X(__fxstatat) X(__fxstatat64) X(truncate) X(truncate64) X(utime) X(utimes) X(utimensat) \
  X(futimes) X(futimens) X(chmod) X(fchmodat) X(fchmod) X(chown) X(fchown) X(fchownat) \
  X(posix_fallocate) X(posix_fallocate64) X(fallocate) X(fallocate64) \
  X(sync) X(syncfs) X(sync_file_range) X(readahead) X(flock) X(lockf) X(lockf64) X(ioctl) \
  X(aio_read) X(aio_read64) X(aio_write) X(aio_write64) X(aio_fsync) X(aio_fsync64) \
  X(lio_listio) X(lio_listio64) X(dprintf) X(vdprintf) X(__dprintf_chk) X(__vdprintf_chk) \
  X(backtrace_symbols_fd) \
  X(sendmsg) X(sendmmsg) X(ftw) X(ftw64) X(nftw) X(nftw64) \
  X(ftell) X(ftello) X(ftello64) X(fgetpos) X(fgetpos64) \
  X(_exit) X(_Exit) X(quick_exit) X(abort) X(__assert_fail) X(__assert_perror_fail) X(__assert) \
  X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) X(execveat) \
  X(execl) X(execlp) X(execle) X(_Fork) \
  X(posix_spawn) X(posix_spawnp) X(system) X(popen) \
  X(longjmp) X(_longjmp) X(siglongjmp) X(__longjmp_chk)
// clang-format on

#define HEADRACE_IO_FUNCTIONS(X)   \
  HEADRACE_DESCRIPTOR_FUNCTIONS(X) \
  HEADRACE_CHILD_FUNCTIONS(X)      \
  HEADRACE_COUNTED_FUNCTIONS(X)    \
  HEADRACE_BUFFER_FUNCTIONS(X)

/// What each name leads to: the C library's function, or that of another tool which stands before
/// it.
struct Functions {
#define HEADRACE_MEMBER(name) decltype(&::name) name;
  HEADRACE_IO_FUNCTIONS(HEADRACE_MEMBER)
#undef HEADRACE_MEMBER
};

extern Functions real;

/// Its stand-ins; each calls the one of `real`, and counts.
namespace counted {
#define HEADRACE_STAND_IN(name) extern decltype(::name) name;
HEADRACE_IO_FUNCTIONS(HEADRACE_STAND_IN)
#undef HEADRACE_STAND_IN

FILE* fopen_for_cpp(const char* name, const char* mode);
FILE* fopen64_for_cpp(const char* name, const char* mode);
}  // namespace counted

enum class Purpose { both, counts, buffers };

struct Function {
  /// The C library's; older ones have some twice (libpthread). Null if there is none. Never what
  /// the program's scope shows: that may be a function of the program's own, or its stub.
  std::array<void*, 2> native;
  void* tool;  ///< another tool's that is preloaded, such as Darshan's; null if there is none
  const char* name;
  void* stand_in;
  Purpose purpose;

  /// Whether a slot with this address means the function.
  bool is_at(const void* address) const {
    return address != nullptr && (address == native[0] || address == native[1] || address == tool);
  }
};

/// What stands in for it where a library of C++ calls it: a stream of C++ opens by a stream of C,
/// and then reads and writes by its descriptor.
void* stand_in_for_cpp(const Function& function);

/// All of them, looked up at the first call, which must not come while the program may load
/// objects.
std::span<const Function> functions();

/// Whether an object is such a tool, which stands between the program and the C library: it is in
/// LD_PRELOAD, or Darshan's. `path`: of its file.
bool is_tool(std::string_view path);

}  // namespace headrace::posix
