#include "lattice/geometry.h"

#include <numeric>

namespace headrace::bench::lattice {
namespace {

std::int64_t product(const Vector4& vector) {
  return std::accumulate(vector.begin(), vector.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

Geometry::Geometry(Vector4 lattice, Vector4 grid, int rank, Order order)
    : lattice_(lattice), order_(order) {
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

std::int64_t Geometry::lexicographic(const Vector4& site) const {
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

Vector4 default_grid(const Vector4& lattice, int size, Order order) {
  Vector4 grid{1, 1, 1, 1};
  std::int64_t rest = size;
  for (std::int64_t prime = 2; rest > 1;) {
    if (rest % prime != 0) {
      ++prime;
      continue;
    }
    std::size_t best = 4;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::int64_t extent = lattice[axis] / grid[axis];
      const bool parity_kept = order == Order::lexicographic || axis > 0 || extent / prime % 2 == 0;
      const bool fits = extent % prime == 0 && parity_kept;
      if (fits && (best == 4 || grid[axis] < grid[best])) best = axis;
    }
    if (best == 4) return {0, 0, 0, 0};
    grid[best] *= prime;
    rest /= prime;
  }
  return grid;
}

}  // namespace headrace::bench::lattice
