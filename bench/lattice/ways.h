#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/hints.h"
#include "common/world.h"
#include "lattice/geometry.h"
#include "lattice/parameters.h"

namespace headrace::bench::lattice {

/// One way to move the whole field. Calls are collective and return an empty text or the reason of
/// a failure on this rank; open, transfer and close are always all called.
class Way {
 public:
  virtual ~Way() = default;
  virtual std::string open(const std::string& path, bool writing) = 0;
  virtual std::string write(std::span<const double> field) = 0;
  virtual std::string read(std::span<double> field) = 0;
  virtual std::string sync() = 0;
  virtual std::string close() = 0;
  virtual Hints hints() const { return {}; }
};

/// MPI_Type_create_hindexed_block as the file view, then one write_all or read_all of doubles.
std::unique_ptr<Way> make_mpiio_way(const World& world, const Geometry& geometry,
                                    const Hints& hints);

/// Each rank writes and reads its runs with pwrite and pread.
std::unique_ptr<Way> make_posix_way(const Geometry& geometry);

/// Rank 0 alone touches the file, in pieces of 4 MiB that it gathers from or scatters to the
/// others.
std::unique_ptr<Way> make_rank0_way(const World& world, const Parameters& parameters);

}  // namespace headrace::bench::lattice
