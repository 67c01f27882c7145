#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

/// Larger buffers for streams of C whose files the user named (HEADRACE_IOBUF). The C library does
/// the rest: they are given to it right after the open, where the program may set its own.
namespace headrace::posix::streams {

/// Memory of a stream that is about to be closed; to be given back when it is.
struct Memory {
  std::byte* begin = nullptr;
  std::int64_t bytes = 0;
};

/// The stream was opened by a name, and nothing was done with it yet.
void offer(std::FILE* stream, const char* name) noexcept;
/// The stream was made of a descriptor.
void offer_again(std::FILE* stream) noexcept;

/// The stream is about to be closed.
Memory forget(std::FILE* stream) noexcept;
void give_back(const Memory& memory) noexcept;

/// The stream is about to be positioned, flushed or closed, or the job ends (null: each stream): a
/// file that it has written to is written down, if other nodes may reach it.
void note_written(std::FILE* stream) noexcept;

/// After a flush (null: of each stream), which lets the C library forget where the stream is:
/// save_all() needs that.
void remember_place(std::FILE* stream) noexcept;
/// Before the C library asks where the stream is: the program may have moved its descriptor.
void forget_place(std::FILE* stream) noexcept;

/// Writes what streams with such buffers hold back, and changes nothing in them: they may write it
/// once more, to the same place. For what ends the process, or replaces its program. Tells what may
/// be lost.
void save_all() noexcept;
/// At exit: lets them write it, and tells what they cannot write.
void flush_all() noexcept;

}  // namespace headrace::posix::streams
