#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "posix/buffer_request.h"

/// Buffers for calls of the program on descriptors of files that the user named (HEADRACE_IOBUF).
/// Stand-ins ask here first. Nothing takes memory of the heap, and all may be called by any thread
/// and by signal handlers. A call that cannot go through the buffer either settles it before, so
/// that the file is as the program has made it, or releases it: then the descriptor is as without
/// one, for good.
namespace headrace::posix::buffers {

/// By descriptor: 0, or the number of its buffer. Null: no file gets any.
extern std::atomic<std::uint8_t>* numbers;
/// How many there are.
extern std::atomic<int> count;

inline constexpr unsigned kDescriptors = 1 << 16;

/// From now on, files that are opened get what is wanted for them. False without memory.
bool start(FindBufferRequest find_request) noexcept;

/// Whether files may get any: stand-ins must look.
inline bool are_wanted() noexcept {
  return numbers != nullptr;
}

inline bool has(int descriptor) noexcept {
  return numbers != nullptr && static_cast<unsigned>(descriptor) < kDescriptors &&
         numbers[descriptor].load(std::memory_order_relaxed) != 0;
}

/// Whether any holds bytes back, or has read ahead, as far as that is known without a look at each.
inline bool any() noexcept {
  return count.load(std::memory_order_relaxed) != 0;
}

/// What the user wants for a file; none where it is not asked.
BufferRequest requested_buffer(int directory, const char* name) noexcept;

/// The program has opened a file: it gets a buffer if one is wanted and nothing is against it.
void offer(int descriptor, int directory, const char* name, int flags) noexcept;

// As the functions of the C library, at `offset` or the descriptor's position (null); nothing if
// there is no buffer, then the C library's function is to be called. Set errno.
std::optional<ssize_t> read(int descriptor, void* into, size_t bytes,
                            const off64_t* offset = nullptr) noexcept;
std::optional<ssize_t> write(int descriptor, const void* from, size_t bytes,
                             const off64_t* offset = nullptr) noexcept;
std::optional<ssize_t> write(int descriptor, const iovec* parts, int count,
                             const off64_t* offset = nullptr) noexcept;
std::optional<off64_t> seek(int descriptor, off64_t offset, int whence) noexcept;

/// Writes what is held back, and forgets what was read ahead. For fsync: an errno that is to be
/// told, also of an earlier write, or 0.
int flush(int descriptor) noexcept;
/// The same where errors cannot be told: a later call tells them.
void settle(int descriptor) noexcept;
/// Before a file is cut to a size: writes what is held back. An errno, or 0.
int settle_to_cut(int descriptor) noexcept;
/// Afterwards: what could not be written behind `size` is forgotten; -1: it could not be cut.
/// `failed`: what settle_to_cut() returned.
void cut(int descriptor, off64_t size, int failed) noexcept;
void cut_named(const char* name, off64_t size) noexcept;
/// Settles, then the buffer is gone: `why` is for people.
void release(int descriptor, const char* why) noexcept;
/// The descriptor is about to be closed. An errno that is to be told, or 0.
int end(int descriptor) noexcept;
void end_range(unsigned first, unsigned last) noexcept;

/// Releases all, and no file gets any from now on.
void stop(const char* why) noexcept;
void settle_all() noexcept;

/// The program jumps (longjmp) to where the stack ends at `target`, maybe out of a handler that has
/// interrupted one of these functions: other threads may use the buffer that it was at.
void unwind_locks_to(std::uintptr_t target) noexcept;
void release_all(const char* why) noexcept;
/// Prints what releases could not write, where no later call may tell it. A later one still can:
/// the process may go on, where another program cannot be executed.
void tell_unreported() noexcept;
/// Before another program runs beside this one: settles all, and releases what it may inherit, all
/// if it is given descriptors by number.
void settle_for_child(bool gets_descriptors) noexcept;

/// Before a call that names a file, which may have a buffer.
void settle_named(int directory, const char* name, int flags = 0) noexcept;
/// Before it is opened once more, by open(2)'s `flags`.
void release_named(int directory, const char* name, int flags) noexcept;
/// Afterwards: another thread may have opened it since, and got a buffer.
void release_others(int descriptor, int flags) noexcept;
/// Settles the file that `status` is about. Whether there is one.
bool settle_same(std::uint64_t device, std::uint64_t inode) noexcept;

/// Where the next call of the program on the descriptor begins; -1: nobody knows.
off64_t position_of(int descriptor) noexcept;

}  // namespace headrace::posix::buffers
