#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"

namespace headrace::plan {

/// Which bytes of a window have been filled: one bit for each granule, in memory that several ranks
/// mark at once. Exact, so that a write never touches a byte that no rank gave.
///
///     Coverage coverage(words, 10);      // 1,024-byte granules
///     coverage.mark(2048, 1024);         // bytes [2048, 3072) of the window
class Coverage {
 public:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "shared between processes");

  /// Words that cover `bytes` bytes at a granule of 1 << granule_shift bytes.
  static constexpr std::int64_t words_for(ByteCount bytes, int granule_shift) {
    return ((bytes >> granule_shift) + 63) / 64;
  }

  Coverage(Word* words, int granule_shift) : words_(words), shift_(granule_shift) {}

  /// Marks [begin, begin + len) of the window; both must be multiples of the granule.
  void mark(ByteCount begin, ByteCount len) {
    assert(((begin | len) & ((ByteCount{1} << shift_) - 1)) == 0);
    mark_bits(begin >> shift_, (begin + len) >> shift_);
  }

  /// Marks `count` stretches of `len` bytes, `stride` bytes apart (at least len).
  void mark_strided(ByteCount begin, ByteCount len, std::int64_t stride, std::int64_t count) {
    assert(count <= 1 || stride >= len);
    // Gathers the bits of a word first: one atomic operation for each word, not for each piece.
    std::int64_t word = -1;
    std::uint64_t gathered = 0;
    for (std::int64_t i = 0; i < count; ++i, begin += stride) {
      const std::int64_t first = begin >> shift_;
      const std::int64_t last = ((begin + len) >> shift_) - 1;
      if (first / 64 != last / 64) {
        mark_bits(first, last + 1);
        continue;
      }
      if (first / 64 != word) {
        flush(word, gathered);
        word = first / 64;
        gathered = 0;
      }
      gathered |= mask(first % 64, last % 64);
    }
    flush(word, gathered);
  }

  /// Finds the first marked stretch at or after `from` and below `end`, both in bytes of the
  /// window: sets `begin` and `len` and returns true; false if there is none. Call when no rank
  /// marks any more.
  bool next_run(ByteCount from, ByteCount end, ByteCount& begin, ByteCount& len) const {
    const std::int64_t last = end >> shift_;
    const std::int64_t first = find(from >> shift_, last, 0);
    if (first >= last) return false;
    const std::int64_t stop = find(first, last, ~std::uint64_t{0});
    begin = first << shift_;
    len = (stop - first) << shift_;
    return true;
  }

  /// Copies the words for the first `bytes` bytes of the window. Call when no rank marks any more.
  void copy_words(ByteCount bytes, std::byte* to) const {
    for (std::int64_t i = 0; i < words_for(bytes, shift_); ++i) {
      const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
      std::memcpy(to + 8 * i, &word, sizeof word);
    }
  }

  /// Unmarks the first `bytes` bytes.
  void clear(ByteCount bytes) {
    for (std::int64_t i = 0; i < words_for(bytes, shift_); ++i) {
      words_[i].store(0, std::memory_order_relaxed);
    }
  }

 private:
  static std::uint64_t mask(std::int64_t first, std::int64_t last) {
    return (~std::uint64_t{0} >> (63 - (last - first))) << first;
  }

  void flush(std::int64_t word, std::uint64_t bits) {
    if (bits != 0) words_[word].fetch_or(bits, std::memory_order_relaxed);
  }

  void mark_bits(std::int64_t first, std::int64_t end) {
    while (first < end) {
      const std::int64_t last = std::min(end - 1, first / 64 * 64 + 63);
      flush(first / 64, mask(first % 64, last % 64));
      first = last + 1;
    }
  }

  /// The first bit at or after `from` that differs from the pattern's (all zeros or all ones), at
  /// most `end`.
  std::int64_t find(std::int64_t from, std::int64_t end, std::uint64_t pattern) const {
    while (from < end) {
      const std::uint64_t word = words_[from / 64].load(std::memory_order_relaxed) ^ pattern;
      const std::uint64_t rest = word >> (from % 64);
      if (rest != 0) return std::min(end, from + std::countr_zero(rest));
      from = from / 64 * 64 + 64;
    }
    return end;
  }

  Word* words_;
  int shift_;
};

}  // namespace headrace::plan
