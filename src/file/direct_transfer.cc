#include "file/direct_transfer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/own_buffer.h"
#include "file/direct_read.h"
#include "file/piece_walk.h"
#include "record/call_timer.h"

namespace headrace::file {
namespace {

/// Smaller pieces of memory are cheaper to copy together than to list for the kernel; bytes.
constexpr ByteCount kSmallPiece = 2048;

/// Collects pieces that are adjacent in the file and writes them by one call.
class WriteBatch {
 public:
  explicit WriteBatch(storage::Store& store) : store_(store) {}

  /// False once a write has failed.
  bool add(FileOffset offset, const std::byte* data, ByteCount len) {
    if (offset != end_ || used_ == segments_.size()) {
      if (!flush()) return false;
      begin_ = end_ = offset;
    }
    // Without memory to copy them to, pieces are listed as they are.
    if (len < kSmallPiece && pack_.has(kPackSize)) return add_copy(data, len);
    append(const_cast<std::byte*>(data), len);
    return true;
  }

  bool flush() {
    if (used_ > 0 && done_.system_error == 0) {
      const Transferred written = store_.write(begin_, {segments_.data(), used_});
      done_.bytes += written.bytes;
      done_.system_error = written.system_error;
    }
    used_ = 0;
    packed_ = 0;
    begin_ = end_;
    return done_.system_error == 0;
  }

  const Transferred& done() const { return done_; }

 private:
  static constexpr ByteCount kPackSize = 256 << 10;

  bool add_copy(const std::byte* data, ByteCount len) {
    if (packed_ + len > kPackSize && !flush()) return false;
    std::byte* place = pack_.data() + packed_;
    std::memcpy(place, data, static_cast<std::size_t>(len));
    packed_ += len;
    append(place, len);
    return true;
  }

  void append(std::byte* data, ByteCount len) {
    end_ += len;
    if (used_ > 0) {
      iovec& last = segments_[used_ - 1];
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == data) {
        last.iov_len += static_cast<std::size_t>(len);
        return;
      }
    }
    segments_[used_++] = {data, static_cast<std::size_t>(len)};
  }

  storage::Store& store_;
  FileOffset begin_ = 0;
  FileOffset end_ = -1;  ///< the offset where the next piece must begin
  std::array<iovec, 256> segments_;
  std::size_t used_ = 0;
  OwnBuffer pack_;
  ByteCount packed_ = 0;
  Transferred done_;
};

Transferred write_pieces(storage::Store& store, Access& access) {
  WriteBatch batch(store);
  const auto add = [&batch](FileOffset offset, const std::byte* data, ByteCount len) {
    return batch.add(offset, data, len);
  };
  for (ByteCount left = access.bytes; left > 0 && batch.done().system_error == 0;) {
    const view::StridedRun run = access.file.next(left);
    if (run.count == 0) break;
    left -= run.bytes();
    for_each_piece_while(access, run, add);
  }
  batch.flush();
  return batch.done();
}

Transferred transfer_of_host(storage::Store& store, Access access, ByteCount sieve_size) {
  if (access.memory.type()->is_contiguous() && access.file.type()->is_contiguous()) {
    return move_stretch(store, access.direction, access.file.peek(),
                        view::memory_at(access.buffer, access.memory.peek()), access.bytes);
  }
  return access.direction == Direction::write ? write_pieces(store, access)
                                              : direct_read(store, access, sieve_size);
}

/// Makes a call for each stretch of the data in host memory. Each may read a gap between pieces
/// again.
Transferred transfer_of_device(storage::Store& store, Access access, ByteCount sieve_size) {
  device::Staging& staging = *access.staging;
  Transferred done;
  for (ByteCount left = access.bytes; left > 0;) {
    const ByteCount position = access.memory.position();
    const std::span<std::byte> host = staging.open(position, left);
    if (host.empty()) return {done.bytes, EFAULT};
    Access part = access;
    part.buffer = view::memory_at(host.data(), -position);
    part.bytes = static_cast<ByteCount>(host.size());
    const Transferred moved = transfer_of_host(store, part, sieve_size);
    staging.close(moved.bytes);
    done.bytes += moved.bytes;
    done.system_error = moved.system_error;
    if (moved.bytes < part.bytes || moved.system_error != 0) break;
    left -= part.bytes;
    if (left == 0) break;
    access.file.seek(access.file.position() + part.bytes);
    access.memory.seek(position + part.bytes);
  }
  return done;
}

}  // namespace

Transferred direct_transfer(storage::Store& store, Access access, ByteCount sieve_size) {
  if (access.bytes == 0) return {};
  const record::InPhase phase(record::Phase::copy);
  return access.staging == nullptr ? transfer_of_host(store, std::move(access), sieve_size)
                                   : transfer_of_device(store, std::move(access), sieve_size);
}

}  // namespace headrace::file
