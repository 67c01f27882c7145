#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace headrace::bench::lattice {

/// Doubles that a site carries: 4 links, each a complex 3 x 3 matrix.
inline constexpr std::int64_t doubles_per_site = 4 * 18;
inline constexpr std::int64_t bytes_per_site = doubles_per_site * 8;

/// Extents or coordinates in x, y, z, t; x runs fastest.
using Vector4 = std::array<std::int64_t, 4>;

enum class Order {
  lexicographic,  ///< x fastest, then y, z, t
  even_odd,       ///< all sites with even x+y+z+t first, then the odd ones, each lexicographic
};

/// A row of consecutive sites, in the file and, for its rank, in memory.
struct Run {
  std::int64_t first_site;  ///< number of its first site in file order
  std::int64_t length;      ///< in sites
};

/// Which sites of the global lattice a rank holds and where they stand in the file. A rank holds a
/// box and keeps its sites in memory in file order, so its part of any range of the file is
/// contiguous in memory.
class Geometry {
 public:
  /// `lattice` must be divisible by `grid` in every direction; for even_odd the x extent of a rank
  /// must be even.
  Geometry(Vector4 lattice, Vector4 grid, int rank, Order order);

  std::int64_t site_count() const;        ///< of the whole lattice
  std::int64_t local_site_count() const;  ///< of this rank
  std::int64_t run_length() const;        ///< sites in each run of this rank

  /// The rank's sites as runs of equal length, in file order.
  std::vector<Run> runs() const;

  /// The lexicographic number of the site at `position` in file order.
  std::int64_t site_at(std::int64_t position) const;

 private:
  std::int64_t lexicographic(const Vector4& site) const;
  void add_rows(int parity, std::vector<Run>& runs) const;

  Vector4 lattice_;
  Vector4 local_;
  Vector4 start_;
  Order order_;
};

/// A process grid for `size` ranks that divides the lattice, x split first and as evenly as the
/// extents allow; all zeros where there is none. For even_odd the x extent of a rank stays even.
Vector4 default_grid(const Vector4& lattice, int size, Order order);

}  // namespace headrace::bench::lattice
