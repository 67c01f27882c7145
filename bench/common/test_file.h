#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace headrace::bench {

/// Removes a test file, or does nothing where there is none. `mine` says whether this rank removes
/// `path`: rank 0 for a shared file, every rank where each has its own. All ranks throw
/// AgreedFailure when one cannot. Collective.
void remove_test_file(MPI_Comm communicator, const std::string& path, bool mine);

/// All ranks throw AgreedFailure unless rank 0 finds `needed` bytes free where `path` is to be.
/// Collective.
void require_space(MPI_Comm communicator, const std::string& path, std::int64_t needed);

/// While it lives, a signal that ends this rank (Ctrl-C, or a launcher that gives up) removes
/// `path` first, where `removes`. One at a time.
class RemovedOnSignal {
 public:
  RemovedOnSignal(const std::string& path, bool removes);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
};

}  // namespace headrace::bench
