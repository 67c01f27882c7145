#include "file/direct_read.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>

#include "base/own_buffer.h"
#include "base/rounding.h"
#include "file/piece_walk.h"
#include "policy/path.h"
#include "storage/realigned_reads.h"
#include "view/copy.h"

namespace headrace::file {
namespace {

/// Reads pieces that lie close together in the file by one call, straight into the user's memory.
/// The gaps between them go to memory that is never read. That saves the copy that a sieve needs.
class ReadBatch {
 public:
  /// Adds what was read to `done`.
  ReadBatch(storage::Store& store, Transferred& done) : store_(store), done_(done) {}

  /// False once a read has failed or met the end of the file.
  bool add(FileOffset offset, std::byte* memory, ByteCount len) {
    const iovec piece{memory, static_cast<std::size_t>(len)};
    // The store reads these faster if they come alone (RealignedReads).
    const bool is_alone = len >= kLongPiece && storage::is_misplaced(offset, piece);
    const ByteCount gap = offset - end_;
    if (is_alone || gap < 0 || gap > policy::kJoinedGap || used_ + 2 > segments_.size()) {
      if (!flush()) return false;
      begin_ = end_ = offset;
    } else if (gap > 0) {
      append(waste(), gap);
    }
    append(memory, len);
    bytes_ += len;
    return !is_alone || flush();
  }

  bool flush() {
    if (used_ > 0) {
      const Transferred got = store_.read(begin_, {segments_.data(), used_});
      const bool is_whole = got.bytes == end_ - begin_;
      done_.bytes += is_whole ? bytes_ : bytes_within(got.bytes);
      done_.system_error = got.system_error;
      has_ended_ = !is_whole || got.system_error != 0;
    }
    used_ = 0;
    bytes_ = 0;
    end_ = kNowhere;
    return !has_ended_;
  }

 private:
  static constexpr ByteCount kLongPiece = 4096;
  static constexpr FileOffset kNowhere = std::numeric_limits<FileOffset>::max();

  void append(std::byte* memory, ByteCount len) {
    segments_[used_++] = {memory, static_cast<std::size_t>(len)};
    end_ += len;
  }

  /// Memory for the gap after the last piece, half a page away from the gap's place in its page:
  /// the kernel copies slowly to some nearby places (docs/measurements/copy-kernels.md).
  std::byte* waste() {
    const auto start = reinterpret_cast<std::uintptr_t>(waste_.data());
    const auto page = std::uintptr_t{kPage};
    return waste_.data() + (static_cast<std::uintptr_t>(end_) + page / 2 - start) % page;
  }

  bool is_waste(const iovec& segment) const {
    const auto* const place = static_cast<const std::byte*>(segment.iov_base);
    return std::less_equal<>()(waste_.data(), place) &&
           std::less<>()(place, waste_.data() + waste_.size());
  }

  /// How many of the first `bytes` bytes that a call read belong to pieces.
  ByteCount bytes_within(ByteCount bytes) const {
    ByteCount wanted = 0;
    for (std::size_t i = 0; i < used_ && bytes > 0; ++i) {
      const ByteCount part = std::min(bytes, static_cast<ByteCount>(segments_[i].iov_len));
      if (!is_waste(segments_[i])) wanted += part;
      bytes -= part;
    }
    return wanted;
  }

  storage::Store& store_;
  Transferred& done_;
  FileOffset begin_ = 0;
  FileOffset end_ = kNowhere;  ///< of the last piece
  ByteCount bytes_ = 0;        ///< of all pieces
  std::array<iovec, 256> segments_;
  std::size_t used_ = 0;
  std::array<std::byte, policy::kJoinedGap + kPage> waste_;
  bool has_ended_ = false;
};

/// Reads stretches of the file that hold small pieces into a buffer and copies the pieces out.
class Sieve {
 public:
  Sieve(storage::Store& store, ByteCount size) : store_(store), size_(size) {}

  /// Bytes of data within the next stretch of sieve size; 0 if the data is too sparse to read the
  /// stretch whole.
  ByteCount bytes_within_reach(const Access& access, ByteCount left) {
    const view::Type& type = *access.file.type();
    // Without memory for the buffer, pieces are read one by one.
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
    // At the same distance from a page's begin as in the file. A few bytes further, the kernel's
    // copy (rep movsb) takes up to ten times as long on some CPUs (Zen 4).
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

/// Whether the next pieces are so small that a sieve reads them.
bool has_small_pieces(const Access& access, const view::StridedRun& run, ByteCount left) {
  return run.length < policy::kSievedPiece ||
         access.memory.piece_left() < std::min(policy::kSievedPiece, left);
}

/// Reads pieces together with the gaps between them. An error may concern bytes in a gap.
Transferred read_together(storage::Store& store, Access& access, ByteCount sieve_size) {
  Sieve sieve(store, sieve_size);
  Transferred done;
  ReadBatch batch(store, done);
  const auto add = [&batch](FileOffset offset, std::byte* memory, ByteCount len) {
    return batch.add(offset, memory, len);
  };
  for (ByteCount left = access.bytes; left > 0;) {
    view::Cursor ahead = access.file;
    const view::StridedRun run = ahead.next(left);
    if (run.count == 0) break;
    const ByteCount sieved =
        has_small_pieces(access, run, left) ? sieve.bytes_within_reach(access, left) : 0;
    if (sieved > 0) {
      if (!batch.flush()) return done;
      const Transferred step = sieve.read(access, sieved);
      done.bytes += step.bytes;
      done.system_error = step.system_error;
      if (step.bytes < sieved || step.system_error != 0) return done;
      left -= sieved;
    } else {
      access.file = ahead;
      if (!for_each_piece_while(access, run, add)) return done;
      left -= run.bytes();
    }
  }
  batch.flush();
  return done;
}

/// Reads piece by piece straight into the user's memory.
Transferred read_one_by_one(storage::Store& store, Access& access) {
  Transferred done;
  const auto read = [&](FileOffset offset, std::byte* memory, ByteCount len) {
    const Transferred got = move_stretch(store, Direction::read, offset, memory, len);
    done.bytes += got.bytes;
    done.system_error = got.system_error;
    return got.bytes == len && got.system_error == 0;
  };
  for (ByteCount left = access.bytes; left > 0;) {
    const view::StridedRun run = access.file.next(left);
    if (run.count == 0 || !for_each_piece_while(access, run, read)) break;
    left -= run.bytes();
  }
  return done;
}

}  // namespace

Transferred direct_read(storage::Store& store, const Access& access, ByteCount sieve_size) {
  Access together = access;
  if (sieve_size == 0) return read_one_by_one(store, together);
  const Transferred done = read_together(store, together, sieve_size);
  if (done.system_error == 0) return done;
  // Perhaps only bytes in a gap cannot be read, so try the pieces one by one.
  Access rest = access;
  rest.file.seek(access.file.position() + done.bytes);
  rest.memory.seek(access.memory.position() + done.bytes);
  rest.bytes -= done.bytes;
  const Transferred alone = read_one_by_one(store, rest);
  return {done.bytes + alone.bytes, alone.system_error};
}

}  // namespace headrace::file
