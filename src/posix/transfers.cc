// Stand-ins for functions that read and write.
#include <pthread.h>

#include <climits>

#include "posix/counting.h"
#include "posix/descriptor_buffers.h"

namespace headrace::posix::counted {
namespace {

template <class Next>
ssize_t transfer(int descriptor, Direction direction, std::int64_t offset, Next next) {
  const Call call;
  const ssize_t done = next();
  if (call.is_counted() && done >= 0) note_transfer(call, descriptor, direction, done, offset);
  return done;
}

// With the file's buffer, if it has one; `next` without. Each is a point of cancellation, as the
// kernel's calls are.

template <class Next>
ssize_t read_at(int descriptor, void* into, size_t bytes, const off64_t* offset, Next next) {
  if (!buffers::has(descriptor) || bytes == 0) return next();
  ::pthread_testcancel();
  const auto done = buffers::read(descriptor, into, bytes, offset);
  return done ? *done : next();
}

template <class Next>
ssize_t write_at(int descriptor, const void* from, size_t bytes, const off64_t* offset, Next next) {
  if (!buffers::has(descriptor) || bytes == 0) return next();
  ::pthread_testcancel();
  const auto done = buffers::write(descriptor, from, bytes, offset);
  return done ? *done : next();
}

template <class Next>
ssize_t write_parts(int descriptor, const iovec* parts, int count, const off64_t* offset,
                    Next next) {
  if (!buffers::has(descriptor)) return next();
  if (count > 0 && count <= IOV_MAX) {
    ::pthread_testcancel();
    const auto done = buffers::write(descriptor, parts, count, offset);
    if (done) return *done;
  }
  return next();
}

/// Of calls that know nothing of buffers.
template <class Next>
ssize_t without_buffer(int descriptor, Next next) {
  if (buffers::has(descriptor)) buffers::release(descriptor, "a call bypasses the buffer");
  return next();
}

/// Where a call began that has moved an offset by `done`. Only the call itself may find out whether
/// the pointer is good.
std::int64_t begin_of(const off64_t* offset, std::int64_t done) {
  return offset == nullptr ? kAtPosition : *offset - done;
}

/// From one descriptor to another.
template <class Next>
ssize_t move(int from, const off64_t* from_offset, int to, const off64_t* to_offset, Next next) {
  for (const int one : {from, to}) {
    if (buffers::has(one)) buffers::release(one, "the kernel moves its data");
  }
  const Call call;
  const ssize_t done = next();
  if (call.is_counted() && done >= 0) {
    note_transfer(call, from, Direction::read, done, begin_of(from_offset, done));
    note_transfer(call, to, Direction::write, done, begin_of(to_offset, done));
  }
  return done;
}

template <class Control, class Next>
ssize_t end_request(Control* control, Next next) {
  const Call call;
  const ssize_t done = next(control);
  if (!call.is_counted() || done < 0) return done;
  // glibc marks those of 64-bit offsets by a further bit.
  const int operation = control->aio_lio_opcode & 127;
  if (operation == LIO_READ || operation == LIO_WRITE) {
    note_transfer(call, control->aio_fildes,
                  operation == LIO_READ ? Direction::read : Direction::write, done,
                  control->aio_offset);
  }
  return done;
}

}  // namespace

ssize_t read(int descriptor, void* into, size_t bytes) {
  return transfer(descriptor, Direction::read, kAtPosition, [=] {
    return read_at(descriptor, into, bytes, nullptr,
                   [=] { return real.read(descriptor, into, bytes); });
  });
}

ssize_t __read_chk(int descriptor, void* into, size_t bytes, size_t room) {
  return transfer(descriptor, Direction::read, kAtPosition, [=] {
    const auto next = [=] { return real.__read_chk(descriptor, into, bytes, room); };
    return bytes > room ? next() : read_at(descriptor, into, bytes, nullptr, next);
  });
}

ssize_t pread(int descriptor, void* into, size_t bytes, off_t offset) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return read_at(descriptor, into, bytes, &offset,
                   [=] { return real.pread(descriptor, into, bytes, offset); });
  });
}

ssize_t pread64(int descriptor, void* into, size_t bytes, off64_t offset) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return read_at(descriptor, into, bytes, &offset,
                   [=] { return real.pread64(descriptor, into, bytes, offset); });
  });
}

ssize_t __pread_chk(int descriptor, void* into, size_t bytes, off_t offset, size_t room) {
  return transfer(descriptor, Direction::read, offset, [=] {
    const auto next = [=] { return real.__pread_chk(descriptor, into, bytes, offset, room); };
    return bytes > room ? next() : read_at(descriptor, into, bytes, &offset, next);
  });
}

ssize_t __pread64_chk(int descriptor, void* into, size_t bytes, off64_t offset, size_t room) {
  return transfer(descriptor, Direction::read, offset, [=] {
    const auto next = [=] { return real.__pread64_chk(descriptor, into, bytes, offset, room); };
    return bytes > room ? next() : read_at(descriptor, into, bytes, &offset, next);
  });
}

ssize_t readv(int descriptor, const iovec* parts, int count) {
  return transfer(descriptor, Direction::read, kAtPosition, [=] {
    return without_buffer(descriptor, [=] { return real.readv(descriptor, parts, count); });
  });
}

ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return without_buffer(descriptor,
                          [=] { return real.preadv(descriptor, parts, count, offset); });
  });
}

ssize_t preadv64(int descriptor, const iovec* parts, int count, off64_t offset) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return without_buffer(descriptor,
                          [=] { return real.preadv64(descriptor, parts, count, offset); });
  });
}

ssize_t preadv2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return without_buffer(descriptor,
                          [=] { return real.preadv2(descriptor, parts, count, offset, flags); });
  });
}

ssize_t preadv64v2(int descriptor, const iovec* parts, int count, off64_t offset, int flags) {
  return transfer(descriptor, Direction::read, offset, [=] {
    return without_buffer(descriptor,
                          [=] { return real.preadv64v2(descriptor, parts, count, offset, flags); });
  });
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
  return transfer(descriptor, Direction::write, kAtPosition, [=] {
    return write_at(descriptor, from, bytes, nullptr,
                    [=] { return real.write(descriptor, from, bytes); });
  });
}

ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return write_at(descriptor, from, bytes, &offset,
                    [=] { return real.pwrite(descriptor, from, bytes, offset); });
  });
}

ssize_t pwrite64(int descriptor, const void* from, size_t bytes, off64_t offset) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return write_at(descriptor, from, bytes, &offset,
                    [=] { return real.pwrite64(descriptor, from, bytes, offset); });
  });
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  return transfer(descriptor, Direction::write, kAtPosition, [=] {
    return write_parts(descriptor, parts, count, nullptr,
                       [=] { return real.writev(descriptor, parts, count); });
  });
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return write_parts(descriptor, parts, count, &offset,
                       [=] { return real.pwritev(descriptor, parts, count, offset); });
  });
}

ssize_t pwritev64(int descriptor, const iovec* parts, int count, off64_t offset) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return write_parts(descriptor, parts, count, &offset,
                       [=] { return real.pwritev64(descriptor, parts, count, offset); });
  });
}

ssize_t pwritev2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return without_buffer(descriptor,
                          [=] { return real.pwritev2(descriptor, parts, count, offset, flags); });
  });
}

ssize_t pwritev64v2(int descriptor, const iovec* parts, int count, off64_t offset, int flags) {
  return transfer(descriptor, Direction::write, offset, [=] {
    return without_buffer(
        descriptor, [=] { return real.pwritev64v2(descriptor, parts, count, offset, flags); });
  });
}

ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
  return move(from, offset, to, nullptr, [=] { return real.sendfile(to, from, offset, bytes); });
}

ssize_t sendfile64(int to, int from, off64_t* offset, size_t bytes) noexcept {
  return move(from, offset, to, nullptr, [=] { return real.sendfile64(to, from, offset, bytes); });
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
                        unsigned flags) {
  return move(from, from_offset, to, to_offset,
              [=] { return real.copy_file_range(from, from_offset, to, to_offset, bytes, flags); });
}

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
               unsigned flags) {
  return move(from, from_offset, to, to_offset,
              [=] { return real.splice(from, from_offset, to, to_offset, bytes, flags); });
}

ssize_t aio_return(aiocb* control) noexcept {
  return end_request(control, [](aiocb* one) { return real.aio_return(one); });
}

ssize_t aio_return64(aiocb64* control) noexcept {
  return end_request(control, [](aiocb64* one) { return real.aio_return64(one); });
}

}  // namespace headrace::posix::counted
