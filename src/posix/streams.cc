// Stand-ins for functions on the streams of C. What they ask of the kernel is made inside the C
// library, past all slots, so it is not counted as calls on descriptors.
#include <algorithm>
#include <cstring>

#include "base/kept_errno.h"
#include "posix/counting.h"
#include "posix/descriptor_buffers.h"
#include "posix/stream_buffers.h"

namespace headrace::posix::counted {
namespace {

using record::AccessCounts;
using record::AccessLayer;
using record::FileOperation;

constexpr OtherKind kOpen = {FileOperation::open, AccessLayer::stdio, &AccessCounts::opens};
constexpr OtherKind kOpenAgain = {FileOperation::open, AccessLayer::stdio, nullptr};
constexpr OtherKind kClose = {FileOperation::close, AccessLayer::stdio, nullptr};
constexpr OtherKind kSeek = {FileOperation::seek, AccessLayer::stdio, &AccessCounts::seeks};
constexpr OtherKind kSync = {FileOperation::sync, AccessLayer::stdio, &AccessCounts::syncs};

/// What a stream is opened for, as far as open(2)'s flags say it.
int flags_of(const char* mode) {
  if (mode == nullptr) return 0;
  const int access = std::strchr(mode, '+') != nullptr ? O_RDWR
                     : mode[0] == 'r'                  ? O_RDONLY
                                                       : O_WRONLY;
  return access | (mode[0] == 'a' ? O_APPEND : 0) | (mode[0] == 'w' ? O_TRUNC : 0);
}

void note_opened(const Call& call, FILE* stream, const char* name, const char* mode) {
  if (!call.is_counted() || stream == nullptr || name == nullptr) return;
  const KeptErrno kept;
  Opening* const opening =
      note_open(::fileno_unlocked(stream), AccessLayer::stdio, AT_FDCWD, name, flags_of(mode));
  if (opening == nullptr) return;
  if (!opening->stands_for_many) opening->stream_position.store(0, std::memory_order_relaxed);
  note_other(call, opening->counts(AccessLayer::stdio), kOpen);
}

template <class Next>
FILE* open_stream(const char* name, const char* mode, Next next) {
  buffers::release_named(AT_FDCWD, name, flags_of(mode));
  const Call call;
  FILE* const stream = next();
  note_opened(call, stream, name, mode);
  if (buffers::any() && stream != nullptr) {
    buffers::release_others(::fileno_unlocked(stream), flags_of(mode));
  }
  return stream;
}

/// Of a stream of C++.
template <class Next>
FILE* open_cpp(const char* name, const char* mode, Next next) {
  FILE* const stream = open_stream(name, mode, next);
  if (!buffers::are_wanted() || stream == nullptr) return stream;
  const KeptErrno kept;
  buffers::offer(::fileno_unlocked(stream), AT_FDCWD, name, flags_of(mode));
  return stream;
}

template <class Next>
FILE* open_plain(const char* name, const char* mode, Next next) {
  FILE* const stream = open_stream(name, mode, next);
  if (buffers::are_wanted()) streams::offer(stream, name);
  return stream;
}

/// The stream's descriptor is forgotten before its number may be another thread's.
AccessCounts* end_stream(FILE* stream) {
  const KeptErrno kept;
  settle_stream(stream);
  return forget(::fileno_unlocked(stream), AccessLayer::stdio);
}

/// Of the descriptor of a stream of C++.
int end_buffer(FILE* stream) {
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  return buffers::has(descriptor) ? buffers::end(descriptor) : 0;
}

streams::Memory memory_of(FILE* stream) {
  return buffers::are_wanted() && stream != nullptr ? streams::forget(stream) : streams::Memory();
}

template <class Next>
FILE* open_again(const char* name, const char* mode, FILE* stream, Next next) {
  buffers::release_named(AT_FDCWD, name, flags_of(mode));
  if (buffers::any() && stream != nullptr) static_cast<void>(end_buffer(stream));
  const Call call;
  if (call.is_counted() && stream != nullptr) end_stream(stream);
  const streams::Memory memory = memory_of(stream);
  FILE* const opened = next();
  streams::give_back(memory);
  note_opened(call, opened, name, mode);
  if (buffers::are_wanted()) streams::offer(opened, name);
  return opened;
}

template <class Next>
int seek_stream(FILE* stream, Next next) {
  if (buffers::are_wanted() && stream != nullptr) {
    streams::note_written(stream);
    streams::forget_place(stream);
  }
  const Call call;
  if (call.is_counted()) settle_stream(stream);
  const int result = next();
  if (!call.is_counted() || result != 0) return result;
  restart_stream(stream);
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  if (descriptor >= 0) {
    note_other(call, counts_of(descriptor, AccessLayer::stdio), kSeek);
  }
  return result;
}

/// Of functions that tell where a stream is.
template <class Next>
auto ask_place(FILE* stream, Next next) {
  streams::forget_place(stream);
  const auto result = next();
  streams::remember_place(stream);
  return result;
}

/// What is taken for the length of a line or a formatted text before it is known. Longer ones may
/// come to the kernel without being timed.
constexpr std::size_t kLine = 1024;

/// Of functions that move items of one size.
template <class Next>
size_t move_items(FILE* stream, Direction direction, size_t size, size_t count, Next next) {
  size_t bytes = 0;
  const bool is_huge = __builtin_mul_overflow(size, count, &bytes);
  const Call call(is_huge || !stays_in_buffer(stream, direction, bytes));
  const size_t items = next();
  if (call.is_counted()) {
    note_stream(call, stream, direction, static_cast<std::int64_t>(items * size));
  }
  return items;
}

/// Of functions that read a line; nothing if it has ended.
template <class Next>
char* get_text(FILE* stream, int room, Next next) {
  const std::size_t most = std::min(kLine, static_cast<std::size_t>(std::max(0, room)));
  const Call call(!stays_in_buffer(stream, Direction::read, most));
  char* const text = next();
  if (call.is_counted() && text != nullptr) {
    note_stream(call, stream, Direction::read, static_cast<std::int64_t>(std::strlen(text)));
  }
  return text;
}

/// Of functions that return how many bytes they moved, or a negative number.
template <class Next>
auto move_told(FILE* stream, Direction direction, Next next) {
  const Call call(!stays_in_buffer(stream, direction, kLine));
  const auto bytes = next();
  if (call.is_counted() && bytes >= 0) note_stream(call, stream, direction, bytes);
  return bytes;
}

template <class Next>
int put_text(FILE* stream, const char* text, std::size_t more, Next next) {
  const Call call(!stays_in_buffer(stream, Direction::write, kLine));
  const int result = next();
  if (call.is_counted() && result >= 0) {
    note_stream(call, stream, Direction::write,
                static_cast<std::int64_t>(std::strlen(text) + more));
  }
  return result;
}

}  // namespace

FILE* fopen(const char* name, const char* mode) {
  return open_plain(name, mode, [=] { return real.fopen(name, mode); });
}

FILE* fopen64(const char* name, const char* mode) {
  return open_plain(name, mode, [=] { return real.fopen64(name, mode); });
}

FILE* fopen_for_cpp(const char* name, const char* mode) {
  return open_cpp(name, mode, [=] { return real.fopen(name, mode); });
}

FILE* fopen64_for_cpp(const char* name, const char* mode) {
  return open_cpp(name, mode, [=] { return real.fopen64(name, mode); });
}

FILE* freopen(const char* name, const char* mode, FILE* stream) {
  return open_again(name, mode, stream, [=] { return real.freopen(name, mode, stream); });
}

FILE* freopen64(const char* name, const char* mode, FILE* stream) {
  return open_again(name, mode, stream, [=] { return real.freopen64(name, mode, stream); });
}

FILE* fdopen(int descriptor, const char* mode) noexcept {
  if (buffers::has(descriptor)) buffers::release(descriptor, "a stream is made of it");
  const Call call;
  FILE* const stream = real.fdopen(descriptor, mode);
  if (buffers::are_wanted()) streams::offer_again(stream);
  if (!call.is_counted() || stream == nullptr) return stream;
  restart_stream(stream);
  note_other(call, counts_of(descriptor, AccessLayer::stdio), kOpenAgain);
  return stream;
}

int fclose(FILE* stream) {
  const Call call;
  AccessCounts* counts = nullptr;
  int failed = 0;
  if (buffers::any()) failed = end_buffer(stream);
  if (call.is_counted()) counts = end_stream(stream);
  const streams::Memory memory = memory_of(stream);
  const int result = real.fclose(stream);
  streams::give_back(memory);
  if (counts != nullptr) note_other(call, counts, kClose);
  if (failed == 0 || result != 0) return result;
  errno = failed;
  return EOF;
}

int fflush(FILE* stream) {
  const Call call;
  const int result = real.fflush(stream);
  if (buffers::are_wanted() && result == 0) {
    streams::note_written(stream);
    streams::remember_place(stream);
  }
  if (!call.is_counted() || stream == nullptr || result != 0) return result;
  const KeptErrno kept;
  const int descriptor = ::fileno_unlocked(stream);
  if (descriptor >= 0) {
    note_other(call, counts_of(descriptor, AccessLayer::stdio), kSync);
  }
  return result;
}

long ftell(FILE* stream) {
  return ask_place(stream, [=] { return real.ftell(stream); });
}

off_t ftello(FILE* stream) {
  return ask_place(stream, [=] { return real.ftello(stream); });
}

off64_t ftello64(FILE* stream) {
  return ask_place(stream, [=] { return real.ftello64(stream); });
}

int fgetpos(FILE* stream, fpos_t* place) {
  return ask_place(stream, [=] { return real.fgetpos(stream, place); });
}

int fgetpos64(FILE* stream, fpos64_t* place) {
  return ask_place(stream, [=] { return real.fgetpos64(stream, place); });
}

int fseek(FILE* stream, long offset, int whence) {
  return seek_stream(stream, [=] { return real.fseek(stream, offset, whence); });
}

int fseeko(FILE* stream, off_t offset, int whence) {
  return seek_stream(stream, [=] { return real.fseeko(stream, offset, whence); });
}

int fseeko64(FILE* stream, off64_t offset, int whence) {
  return seek_stream(stream, [=] { return real.fseeko64(stream, offset, whence); });
}

void rewind(FILE* stream) {
  seek_stream(stream, [=] {
    real.rewind(stream);
    return 0;
  });
}

int fsetpos(FILE* stream, const fpos_t* position) {
  return seek_stream(stream, [=] { return real.fsetpos(stream, position); });
}

int fsetpos64(FILE* stream, const fpos64_t* position) {
  return seek_stream(stream, [=] { return real.fsetpos64(stream, position); });
}

size_t fread(void* into, size_t size, size_t count, FILE* stream) {
  return move_items(stream, Direction::read, size, count,
                    [=] { return real.fread(into, size, count, stream); });
}

size_t fread_unlocked(void* into, size_t size, size_t count, FILE* stream) {
  return move_items(stream, Direction::read, size, count,
                    [=] { return real.fread_unlocked(into, size, count, stream); });
}

size_t __fread_chk(void* into, size_t room, size_t size, size_t count, FILE* stream) {
  return move_items(stream, Direction::read, size, count,
                    [=] { return real.__fread_chk(into, room, size, count, stream); });
}

size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  return move_items(stream, Direction::write, size, count,
                    [=] { return real.fwrite(from, size, count, stream); });
}

size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  return move_items(stream, Direction::write, size, count,
                    [=] { return real.fwrite_unlocked(from, size, count, stream); });
}

char* fgets(char* into, int room, FILE* stream) {
  return get_text(stream, room, [=] { return real.fgets(into, room, stream); });
}

char* fgets_unlocked(char* into, int room, FILE* stream) {
  return get_text(stream, room, [=] { return real.fgets_unlocked(into, room, stream); });
}

char* __fgets_chk(char* into, size_t room, int most, FILE* stream) {
  return get_text(stream, most, [=] { return real.__fgets_chk(into, room, most, stream); });
}

ssize_t getline(char** line, size_t* room, FILE* stream) {
  return move_told(stream, Direction::read, [=] { return real.getline(line, room, stream); });
}

ssize_t getdelim(char** line, size_t* room, int end, FILE* stream) {
  return move_told(stream, Direction::read, [=] { return real.getdelim(line, room, end, stream); });
}

ssize_t __getdelim(char** line, size_t* room, int end, FILE* stream) {
  return move_told(stream, Direction::read,
                   [=] { return real.__getdelim(line, room, end, stream); });
}

int fputs(const char* text, FILE* stream) {
  return put_text(stream, text, 0, [=] { return real.fputs(text, stream); });
}

int fputs_unlocked(const char* text, FILE* stream) {
  return put_text(stream, text, 0, [=] { return real.fputs_unlocked(text, stream); });
}

int puts(const char* text) {
  return put_text(stdout, text, 1, [=] { return real.puts(text); });
}

int vfprintf(FILE* stream, const char* format, va_list values) {
  return move_told(stream, Direction::write, [&] { return real.vfprintf(stream, format, values); });
}

int vprintf(const char* format, va_list values) {
  return move_told(stdout, Direction::write, [&] { return real.vprintf(format, values); });
}

int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list values) {
  return move_told(stream, Direction::write,
                   [&] { return real.__vfprintf_chk(stream, flag, format, values); });
}

int __vprintf_chk(int flag, const char* format, va_list values) {
  return move_told(stdout, Direction::write,
                   [&] { return real.__vprintf_chk(flag, format, values); });
}

#define HEADRACE_WITH_VALUES(last, expression) \
  va_list values;                              \
  va_start(values, last);                      \
  const int written = expression;              \
  va_end(values);                              \
  return written;

int fprintf(FILE* stream, const char* format, ...) {
  HEADRACE_WITH_VALUES(format, counted::vfprintf(stream, format, values))
}

int printf(const char* format, ...) {
  HEADRACE_WITH_VALUES(format, counted::vprintf(format, values))
}

int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  HEADRACE_WITH_VALUES(format, counted::__vfprintf_chk(stream, flag, format, values))
}

int __printf_chk(int flag, const char* format, ...) {
  HEADRACE_WITH_VALUES(format, counted::__vprintf_chk(flag, format, values))
}

}  // namespace headrace::posix::counted
