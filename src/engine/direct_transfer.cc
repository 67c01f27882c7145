#include "engine/direct_transfer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/own_buffer.h"
#include "base/rounding.h"
#include "policy/path.h"
#include "view/copy.h"

namespace headrace::engine {
namespace {

/// Pieces of memory below this size are cheaper to copy together than to list for the kernel.
constexpr ByteCount kSmallPiece = 2048;

/// Collects pieces that follow one another in the file and writes them by one call.
class WriteBatch {
 public:
  explicit WriteBatch(storage::Store& store) : store_(store) {}

  /// False once a write has failed.
  bool add(FileOffset offset, const std::byte* data, ByteCount len) {
    if (offset != end_ || used_ == segments_.size()) {
      if (!flush()) return false;
      begin_ = end_ = offset;
    }
    // Where there is no memory to gather them in, pieces are listed as they are.
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
  FileOffset end_ = -1;  ///< where a piece would go on
  std::array<iovec, 256> segments_;
  std::size_t used_ = 0;
  OwnBuffer pack_;
  ByteCount packed_ = 0;
  Transferred done_;
};

/// Calls visit(file_offset, memory, length) for each piece until it returns false.
template <class Visit>
void for_each_piece_while(Access& access, const view::StridedRun& run, Visit visit) {
  view::PairReader reader(run, access.memory);
  while (reader.next()) {
    const view::PiecePairs& pairs = reader.pairs();
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      if (!visit(pairs.file_offset + i * pairs.file_stride,
                 view::memory_at(access.buffer, pairs.memory_offset + i * pairs.memory_stride),
                 pairs.length)) {
        return;
      }
    }
  }
}

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

/// Reads one run piece by piece straight into the user's memory.
Transferred read_run(storage::Store& store, Access& access, const view::StridedRun& run) {
  Transferred done;
  for_each_piece_while(access, run, [&](FileOffset offset, std::byte* memory, ByteCount len) {
    const iovec segment{memory, static_cast<std::size_t>(len)};
    const Transferred read = store.read(offset, {&segment, 1});
    done.bytes += read.bytes;
    done.system_error = read.system_error;
    return read.bytes == len && read.system_error == 0;
  });
  return done;
}

/// Reads stretches of the file that hold small pieces into a buffer and copies the pieces out.
class Sieve {
 public:
  Sieve(storage::Store& store, ByteCount size) : store_(store), size_(size) {}

  /// Bytes of data within the next stretch of sieve size, or 0 where too few of the stretch's bytes
  /// are wanted to read it whole.
  ByteCount bytes_within_reach(const Access& access, ByteCount left) {
    const view::Type& type = *access.file.type();
    // Where there is no memory for it, pieces are read one by one.
    if (!type.is_monotonic() || !buffer_.has(size_ + kPage)) return 0;
    const FileOffset begin = access.file.peek();
    const ByteCount below =
        view::data_below(type, access.file.origin(), begin + size_) - access.file.position();
    const ByteCount wanted = std::min(below, left);
    return wanted >= size_ / kLeastShare || wanted == left ? wanted : 0;
  }

  /// Reads and copies out the next `wanted` bytes of data.
  Transferred read(Access& access, ByteCount wanted) {
    const view::Type& type = *access.file.type();
    const FileOffset begin = access.file.peek();
    const FileOffset end =
        view::offset_of(type, access.file.origin(), access.file.position() + wanted - 1) + 1;
    // As far from the beginning of a page as in the file: a few bytes further, and the copying of
    // the kernel (rep movsb) takes up to ten times as long on some CPUs (Zen 4).
    std::byte* const place = buffer_.data() + begin % kPage;
    const iovec segment{place, static_cast<std::size_t>(end - begin)};
    const Transferred got = store_.read(begin, {&segment, 1});
    const ByteCount copied = view::copy(Direction::read, {place, begin}, access.file,
                                        begin + got.bytes, access.buffer, access.memory, wanted);
    return {copied, got.system_error};
  }

 private:
  static constexpr ByteCount kLeastShare = 16;

  storage::Store& store_;
  ByteCount size_;
  OwnBuffer buffer_;
};

Transferred read_pieces(storage::Store& store, Access& access, ByteCount sieve_size) {
  Sieve sieve(store, sieve_size);
  bool may_sieve = true;
  Transferred done;
  while (done.bytes < access.bytes) {
    const ByteCount left = access.bytes - done.bytes;
    view::Cursor ahead = access.file;
    const view::StridedRun run = ahead.next(left);
    if (run.count == 0) break;
    ByteCount wanted = 0;
    if (may_sieve && (run.length < policy::kSievedPiece ||
                      access.memory.piece_left() < std::min(policy::kSievedPiece, left))) {
      wanted = sieve.bytes_within_reach(access, left);
    }
    Transferred step;
    if (wanted > 0) {
      step = sieve.read(access, wanted);
      if (step.system_error != 0) {
        // Perhaps only bytes that nobody asked for cannot be read: the pieces themselves will tell.
        may_sieve = false;
        done.bytes += step.bytes;
        continue;
      }
    } else {
      wanted = run.bytes();
      access.file = ahead;
      step = read_run(store, access, run);
    }
    done.bytes += step.bytes;
    done.system_error = step.system_error;
    if (step.bytes < wanted) break;
  }
  return done;
}

}  // namespace

Transferred direct_transfer(storage::Store& store, Access access, ByteCount sieve_size) {
  if (access.bytes == 0) return {};
  if (access.memory.type()->is_contiguous() && access.file.type()->is_contiguous()) {
    return move_stretch(store, access.direction, access.file.peek(),
                        view::memory_at(access.buffer, access.memory.peek()), access.bytes);
  }
  return access.direction == Direction::write ? write_pieces(store, access)
                                              : read_pieces(store, access, sieve_size);
}

}  // namespace headrace::engine
