#include "lattice/geometry.h"

namespace headrace::bench::lattice {

Geometry::Geometry(const Extents& lattice, const Extents& grid, int rank, Order order)
    : lattice_(lattice), local_(4), start_(4), order_(order) {
  std::int64_t rest = rank;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    local_[axis] = lattice[axis] / grid[axis];
    start_[axis] = rest % grid[axis] * local_[axis];
    rest /= grid[axis];
  }
}

std::int64_t Geometry::site_count() const {
  return product(lattice_);
}

std::int64_t Geometry::local_site_count() const {
  return product(local_);
}

std::int64_t Geometry::run_length() const {
  return order_ == Order::lexicographic ? local_[0] : local_[0] / 2;
}

std::int64_t Geometry::lexicographic(const Extents& site) const {
  return site[0] + lattice_[0] * (site[1] + lattice_[1] * (site[2] + lattice_[2] * site[3]));
}

void Geometry::add_rows(int parity, std::vector<Run>& runs) const {
  const std::int64_t half = parity * site_count() / 2;
  for (std::int64_t t = start_[3]; t < start_[3] + local_[3]; ++t) {
    for (std::int64_t z = start_[2]; z < start_[2] + local_[2]; ++z) {
      for (std::int64_t y = start_[1]; y < start_[1] + local_[1]; ++y) {
        const std::int64_t number = lexicographic({start_[0], y, z, t});
        const std::int64_t first = order_ == Order::lexicographic ? number : half + number / 2;
        runs.push_back({first, run_length()});
      }
    }
  }
}

std::vector<Run> Geometry::runs() const {
  std::vector<Run> runs;
  add_rows(0, runs);
  if (order_ == Order::even_odd) add_rows(1, runs);
  return runs;
}

std::int64_t Geometry::site_at(std::int64_t position) const {
  if (order_ == Order::lexicographic) return position;
  const std::int64_t half = site_count() / 2;
  const std::int64_t parity = position / half;
  const std::int64_t pair = 2 * (position % half);  // the even place of the pair along x
  const std::int64_t row = pair / lattice_[0];
  const std::int64_t y = row % lattice_[1];
  const std::int64_t z = row / lattice_[1] % lattice_[2];
  const std::int64_t t = row / lattice_[1] / lattice_[2];
  return pair + ((y + z + t + parity) % 2);
}

}  // namespace headrace::bench::lattice
