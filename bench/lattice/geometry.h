#pragma once

#include <cstdint>
#include <vector>

#include "common/extents.h"

namespace headrace::bench::lattice {

/// Doubles that a site carries: 4 links, each a complex 3 x 3 matrix.
inline constexpr std::int64_t doubles_per_site = 4 * 18;
inline constexpr std::int64_t bytes_per_site = doubles_per_site * 8;

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
  /// Extents are in x, y, z, t; x runs fastest. `lattice` must be divisible by `grid` in every
  /// direction; for even_odd the x extent of a rank must be even.
  Geometry(const Extents& lattice, const Extents& grid, int rank, Order order);

  std::int64_t site_count() const;        ///< of the whole lattice
  std::int64_t local_site_count() const;  ///< of this rank
  std::int64_t run_length() const;        ///< sites in each run of this rank

  /// The rank's sites as runs of equal length, in file order.
  std::vector<Run> runs() const;

  /// The lexicographic number of the site at `position` in file order.
  std::int64_t site_at(std::int64_t position) const;

 private:
  std::int64_t lexicographic(const Extents& site) const;
  void add_rows(int parity, std::vector<Run>& runs) const;

  Extents lattice_;
  Extents local_;
  Extents start_;
  Order order_;
};

}  // namespace headrace::bench::lattice
