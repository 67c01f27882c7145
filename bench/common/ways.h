#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/hints.h"
#include "common/layout.h"
#include "common/world.h"

namespace headrace::bench {

/// One way to move what the layouts of all ranks describe. Calls are collective and return an empty
/// text or the reason of a failure on this rank; open, the moves and close are always all called.
class Way {
 public:
  virtual ~Way() = default;
  virtual std::string open(const std::string& path, bool writing) = 0;
  /// Writes from or reads into `memory`, which holds layout.memory_size bytes; the layout's first
  /// byte lies at `displacement` in the file.
  virtual std::string move(bool writing, std::int64_t displacement, std::byte* memory) = 0;
  virtual std::string sync() = 0;
  virtual std::string close() = 0;
  virtual Hints hints() const { return {}; }
};

/// How MPI-IO is told where the next call of a loop goes.
enum class Views {
  each_call,  ///< MPI_File_set_view at the new displacement
  once,       ///< one view; the file pointer goes on, by whole file types
};

/// The layout's type as the file view, then one write_all or read_all for each move. The layout
/// and the world must outlive the ways.
std::unique_ptr<Way> make_mpiio_way(const World& world, const Layout& layout, const Hints& hints,
                                    Views views = Views::each_call);

/// Each rank writes and reads its pieces with pwrite and pread, by at most `request` bytes.
std::unique_ptr<Way> make_posix_way(const Layout& layout, std::int64_t request = INT64_MAX);

/// Rank 0 alone touches the file, by 4 MiB that it gathers from or scatters to the others. All
/// ranks throw AgreedFailure where one has not the memory. Collective.
std::unique_ptr<Way> make_rank0_way(const World& world, const Layout& layout);

}  // namespace headrace::bench
