#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ior/parameters.h"

namespace headrace::bench::ior {

/// The bytes a task writes, a function of task, signature and place, so that a byte that is wrong,
/// missing, of another task, of another transfer or of another run is found.
///
/// Default: transfer number n of task r with signature s holds the bytes of
///     word(i) = mix(s << 32 | r) ^ mix(i),  i = 8 * (mix(n) mod 1024), ...
/// as little-endian 64-bit words, cut at the transfer's size. They are ready in memory before the
/// clock starts; a transfer only picks its window.
/// -l offset: IOR's own words: (r << 32 | s) at even places, the word's file offset at odd places,
/// filled in for every transfer while the clock runs, as IOR does.
class Signature {
 public:
  Signature(const Parameters& parameters, int task, std::uint32_t stamp);

  /// The bytes to write; valid until the next call. `offset` is where they go in the file.
  std::span<const std::byte> transfer(std::int64_t number, std::int64_t offset);

  /// How many bytes of `data` differ from transfer(number, offset); `first` receives the index of
  /// the first of them.
  std::int64_t mismatches(std::span<const std::byte> data, std::int64_t number, std::int64_t offset,
                          std::int64_t& first);

 private:
  static constexpr std::uint64_t window_count = 1024;
  static constexpr std::size_t words_per_line = 8;

  /// Transfers begin with a line, so that none depends on where malloc puts them.
  struct alignas(64) Line {
    std::uint64_t words[words_per_line];
  };

  void fill_offsets(std::int64_t offset);
  std::uint64_t& word(std::size_t i) {
    return lines_[i / words_per_line].words[i % words_per_line];
  }
  std::size_t word_count() const { return lines_.size() * words_per_line; }

  std::size_t transfer_size_;
  bool store_offset_;
  std::uint64_t task_and_stamp_;
  std::vector<Line> lines_;
};

}  // namespace headrace::bench::ior
