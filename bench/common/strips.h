#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::bench {

/// `count` runs of `length` bytes each, the first at `offset`, from begin to begin `stride` bytes.
struct Strip {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;
};

/// Runs of bytes, kept as strips.
using Strips = std::vector<Strip>;

/// Appends a run; one that goes on with the last strip becomes part of it.
void add_run(Strips& strips, std::int64_t offset, std::int64_t length);

/// How many runs there are, how many bytes they hold, and where the farthest one ends.
std::int64_t run_count(const Strips& strips);
std::int64_t byte_count(const Strips& strips);
std::int64_t end_of(const Strips& strips);

/// A place in a list of runs, which must outlive it.
class RunCursor {
 public:
  explicit RunCursor(const Strips& strips) : strips_(&strips) {}

  bool is_done() const { return strip_ == strips_->size(); }
  /// Where the rest of the current run begins, and its length in bytes.
  std::int64_t offset() const { return current().offset + run_ * current().stride + within_; }
  std::int64_t rest() const { return current().length - within_; }

  /// Goes on by at most rest() bytes.
  void advance(std::int64_t bytes) {
    within_ += bytes;
    if (within_ < current().length) return;
    within_ = 0;
    if (++run_ < current().count) return;
    run_ = 0;
    ++strip_;
  }

 private:
  const Strip& current() const { return (*strips_)[strip_]; }

  const Strips* strips_;
  std::size_t strip_ = 0;
  std::int64_t run_ = 0;
  std::int64_t within_ = 0;
};

/// A stretch that is contiguous both in the file and in memory, in bytes.
struct Piece {
  std::int64_t file_offset = 0;
  std::int64_t memory_offset = 0;
  std::int64_t length = 0;
};

/// Walks the runs in the file and those in memory that hold the same bytes, in step.
class PieceCursor {
 public:
  PieceCursor(const Strips& file, const Strips& memory) : file_(file), memory_(memory) {}

  /// The next piece, cut at file offset `end` and at `most` bytes; of length 0 where none is left
  /// before `end`.
  Piece next(std::int64_t end = INT64_MAX, std::int64_t most = INT64_MAX) {
    if (file_.is_done() || file_.offset() >= end) return {};
    const std::int64_t length =
        std::min({file_.rest(), memory_.rest(), end - file_.offset(), most});
    const Piece piece{file_.offset(), memory_.offset(), length};
    file_.advance(length);
    memory_.advance(length);
    return piece;
  }

  /// Where the next piece stands in memory; there must be one.
  std::int64_t memory_offset() const { return memory_.offset(); }

  /// Whether there is a next piece, and it begins before file offset `end`.
  bool has_before(std::int64_t end) const { return !file_.is_done() && file_.offset() < end; }

  /// Walks up to file offset `end`; returns how many bytes those are.
  std::int64_t skip_until(std::int64_t end) {
    std::int64_t total = 0;
    for (Piece piece = next(end); piece.length > 0; piece = next(end)) total += piece.length;
    return total;
  }

 private:
  RunCursor file_;
  RunCursor memory_;
};

}  // namespace headrace::bench
