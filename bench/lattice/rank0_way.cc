#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "common/posix_io.h"
#include "lattice/ways.h"

namespace headrace::bench::lattice {
namespace {

/// Sites that rank 0 handles at a time: as many as fit in 4 MiB.
constexpr std::int64_t sites_per_slab = (std::int64_t{4} << 20) / bytes_per_site;

/// A rank's runs and how far it has come. Memory order is file order, so both only move forward.
class Progress {
 public:
  explicit Progress(const Geometry& geometry) : runs_(geometry.runs()) {}

  /// Visits the rank's pieces before file site `end` that were not visited yet:
  /// visit(first site, sites). Returns their number of sites.
  template <class Visit>
  std::int64_t advance(std::int64_t end, Visit visit) {
    std::int64_t total = 0;
    while (run_ < runs_.size() && runs_[run_].first_site + within_ < end) {
      const std::int64_t first = runs_[run_].first_site + within_;
      const std::int64_t length = std::min(runs_[run_].length - within_, end - first);
      visit(first, length);
      total += length;
      within_ += length;
      if (within_ == runs_[run_].length) {
        ++run_;
        within_ = 0;
      }
    }
    return total;
  }

  std::int64_t advance(std::int64_t end) {
    return advance(end, [](std::int64_t, std::int64_t) {});
  }

  /// How many sites advance(end) would visit.
  std::int64_t count_until(std::int64_t end) {
    const std::size_t run = run_;
    const std::int64_t within = within_;
    const std::int64_t total = advance(end);
    run_ = run;
    within_ = within;
    return total;
  }

 private:
  std::vector<Run> runs_;
  std::size_t run_ = 0;
  std::int64_t within_ = 0;
};

class Rank0Way final : public Way {
 public:
  Rank0Way(const World& world, const Parameters& parameters) : world_(world) {
    const int first = world.rank;
    const int last = world.rank == 0 ? world.size - 1 : world.rank;
    for (int rank = first; rank <= last; ++rank) {
      geometries_.emplace_back(parameters.lattice, parameters.grid, rank, parameters.order);
    }
    if (world.rank != 0) return;
    slab_.resize(static_cast<std::size_t>(sites_per_slab * doubles_per_site));
    packed_.resize(slab_.size());
  }

  std::string open(const std::string& path, bool writing) override {
    if (world_.rank != 0) return {};
    const std::string error = file_.open(path, writing ? O_CREAT | O_RDWR : O_RDONLY);
    open_ = error.empty();
    return error;
  }

  std::string write(std::span<const double> field) override {
    return move(const_cast<double*>(field.data()), true);
  }

  std::string read(std::span<double> field) override { return move(field.data(), false); }

  std::string sync() override { return open_ ? file_.sync() : std::string(); }
  std::string close() override { return file_.close(); }

 private:
  std::string move(double* field, bool writing) {
    std::vector<Progress> progress(geometries_.begin(), geometries_.end());
    const std::int64_t site_count = geometries_.front().site_count();
    std::string error;
    for (std::int64_t first = 0; first < site_count; first += sites_per_slab) {
      const std::int64_t end = std::min(first + sites_per_slab, site_count);
      if (world_.rank != 0) {
        field = exchange_with_root(field, progress.front().advance(end), writing);
        continue;
      }
      const std::size_t bytes = static_cast<std::size_t>((end - first) * bytes_per_site);
      const std::int64_t offset = first * bytes_per_site;
      if (!writing && open_ && error.empty()) error = file_.read_at(offset, slab_.data(), bytes);
      field = serve_all(field, progress, first, end, writing);
      if (writing && open_ && error.empty()) error = file_.write_at(offset, slab_.data(), bytes);
    }
    return error;
  }

  double* exchange_with_root(double* field, std::int64_t sites, bool writing) {
    const int count = static_cast<int>(sites * doubles_per_site);
    if (count == 0) return field;
    if (writing) {
      MPI_Send(field, count, MPI_DOUBLE, 0, 0, world_.communicator);
    } else {
      MPI_Recv(field, count, MPI_DOUBLE, 0, 0, world_.communicator, MPI_STATUS_IGNORE);
    }
    return field + count;
  }

  /// Rank 0: moves the pieces of the slab from or to every rank; returns where its own field goes
  /// on.
  double* serve_all(double* field, std::vector<Progress>& progress, std::int64_t first,
                    std::int64_t end, bool writing) {
    double* const start = field;
    std::int64_t mine = 0;
    for (int rank = 0; rank < world_.size; ++rank) {
      double* memory = rank == 0 ? start : packed_.data();
      Progress& rest = progress[static_cast<std::size_t>(rank)];
      const int count = static_cast<int>(rest.count_until(end) * doubles_per_site);
      if (rank == 0) mine = count;
      if (rank > 0 && writing && count > 0) {
        MPI_Recv(memory, count, MPI_DOUBLE, rank, 0, world_.communicator, MPI_STATUS_IGNORE);
      }
      rest.advance(end, [&](std::int64_t site, std::int64_t length) {
        double* in_slab = slab_.data() + (site - first) * doubles_per_site;
        const std::size_t bytes = static_cast<std::size_t>(length * bytes_per_site);
        std::memcpy(writing ? in_slab : memory, writing ? memory : in_slab, bytes);
        memory += length * doubles_per_site;
      });
      if (rank > 0 && !writing && count > 0) {
        MPI_Send(packed_.data(), count, MPI_DOUBLE, rank, 0, world_.communicator);
      }
    }
    return start + mine;
  }

  const World& world_;
  std::vector<Geometry> geometries_;  ///< rank 0: of all ranks; others: their own
  std::vector<double> slab_;
  std::vector<double> packed_;
  PosixFile file_;
  bool open_ = false;
};

}  // namespace

std::unique_ptr<Way> make_rank0_way(const World& world, const Parameters& parameters) {
  return std::make_unique<Rank0Way>(world, parameters);
}

}  // namespace headrace::bench::lattice
