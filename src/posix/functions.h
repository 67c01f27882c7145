#pragma once

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

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
ssize_t __getdelim(char**, size_t*, int, FILE*);
int io_uring_queue_init(unsigned, void*, unsigned);
int io_uring_queue_init_params(unsigned, void*, void*);
int io_uring_queue_init_mem(unsigned, void*, void*, void*, size_t);
}

/// The functions of the C library that are looked at: calls of the program's objects are led to
/// stand-ins of the same types, by their slots (base/elf_object.h). This library's own calls are
/// not.
namespace headrace::posix {

// clang-format off
#define HEADRACE_IO_FUNCTIONS(X) \
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
  X(fread) X(fread_unlocked) X(__fread_chk) X(fgets) X(fgets_unlocked) X(__fgets_chk) \
  X(getline) X(getdelim) X(__getdelim) \
  X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts) \
  X(fprintf) X(vfprintf) X(printf) X(vprintf) \
  X(__fprintf_chk) X(__vfprintf_chk) X(__printf_chk) X(__vprintf_chk) \
  X(io_uring_queue_init) X(io_uring_queue_init_params) X(io_uring_queue_init_mem)
// clang-format on

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
}  // namespace counted

struct Function {
  /// The C library's; older ones have some twice (libpthread). Null if there is none. Never what
  /// the program's scope shows: that may be a function of the program's own, or its stub.
  std::array<void*, 2> native;
  void* tool;  ///< another tool's that is preloaded, such as Darshan's; null if there is none
  const char* name;
  void* stand_in;

  /// Whether a slot with this address means the function.
  bool is_at(const void* address) const {
    return address != nullptr && (address == native[0] || address == native[1] || address == tool);
  }
};

/// All of them, looked up at the first call, which must not come while the program may load
/// objects.
std::span<const Function> functions();

/// Whether an object is such a tool, which stands between the program and the C library: it is in
/// LD_PRELOAD, or Darshan's. `path`: of its file.
bool is_tool(std::string_view path);

}  // namespace headrace::posix
