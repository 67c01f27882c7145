#include "count/shapes.h"

#include <array>
#include <random>
#include <vector>

namespace headrace::count {

using Numbers = std::vector<std::int64_t>;

Shape tile(ByteCount total, ByteCount piece, int rank, int ranks) {
  const view::TypePtr row = view::make_resized(view::make_basic(piece), 0, piece * ranks);
  return {piece * rank, row, total / ranks / piece * piece};
}

Shape irregular(ByteCount total, int rank, int ranks) {
  std::mt19937_64 random(7);  // its numbers are the same everywhere
  Numbers offsets;
  Numbers lengths;
  ByteCount bytes = 0;
  FileOffset end = 0;
  while (end < total) {
    const auto length = static_cast<std::int64_t>(50 + random() % 101);
    const auto owner = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
    if (owner == rank) {
      offsets.push_back(end);
      lengths.push_back(length);
      bytes += length;
    }
    end += length;
  }
  return {0, view::make_resized(view::make_hindexed(lengths, offsets, view::make_basic(1)), 0, end),
          bytes};
}

Shape lattice(int rank, int ranks) {
  constexpr std::int64_t kSite = 576;
  constexpr std::array<std::int64_t, 4> kSize = {8, 8, 8, 16};  // x, y, z, t
  const std::array<std::int64_t, 4> grid = ranks == 8 ? std::array<std::int64_t, 4>{1, 2, 2, 2}
                                                      : std::array<std::int64_t, 4>{1, ranks, 1, 1};
  std::array<std::int64_t, 4> begin{};
  std::array<std::int64_t, 4> end{};
  for (std::size_t d = 0, rest = static_cast<std::size_t>(rank); d < 4; ++d) {
    const auto parts = static_cast<std::size_t>(grid[d]);
    begin[d] = static_cast<std::int64_t>(rest % parts) * kSize[d] / grid[d];
    end[d] = begin[d] + kSize[d] / grid[d];
    rest /= parts;
  }
  // Half a row in x is even, half of it odd; the odd half of the field follows the even one.
  constexpr std::int64_t kHalfRow = kSize[0] / 2 * kSite;
  constexpr std::int64_t kRows = kSize[1] * kSize[2] * kSize[3];
  Numbers offsets;
  for (const std::int64_t parity : {0, 1}) {
    for (std::int64_t t = begin[3]; t < end[3]; ++t) {
      for (std::int64_t z = begin[2]; z < end[2]; ++z) {
        for (std::int64_t y = begin[1]; y < end[1]; ++y) {
          offsets.push_back((parity * kRows + (t * kSize[2] + z) * kSize[1] + y) * kHalfRow);
        }
      }
    }
  }
  const view::TypePtr number = view::make_basic(8);
  return {0, view::make_hindexed_block(kHalfRow / 8, offsets, number),
          std::ssize(offsets) * kHalfRow};
}

Shape contiguous(ByteCount bytes, int calls, int rank) {
  return {bytes * calls * rank, view::make_basic(8), bytes};
}

}  // namespace headrace::count
