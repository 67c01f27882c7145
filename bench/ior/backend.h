#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/hints.h"
#include "common/world.h"
#include "ior/layout.h"
#include "ior/parameters.h"

namespace headrace::bench::ior {

/// One way to open, write and read a file. Every call returns an empty text or the reason why it
/// failed; a collective backend makes its calls even after a failure, so that nobody waits.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Opens `path` to write (creating it) or to read the data of `task`.
  virtual std::string open(const std::string& path, bool writing, int task) = 0;
  virtual std::string write(std::int64_t offset, std::span<const std::byte> data) = 0;
  virtual std::string read(std::int64_t offset, std::span<std::byte> data) = 0;
  virtual std::string sync() = 0;
  virtual std::string close() = 0;
  virtual Hints hints() const { return {}; }

  /// Whether a failed transfer must not end the loop, because the others wait in the next one.
  virtual bool must_go_on() const { return false; }
};

std::unique_ptr<Backend> make_posix_backend(const Parameters& parameters);

/// `hints` go to MPI_File_open.
std::unique_ptr<Backend> make_mpiio_backend(const Parameters& parameters, const World& world,
                                            const Layout& layout, const Hints& hints);

}  // namespace headrace::bench::ior
