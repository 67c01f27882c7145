#pragma once

#include <mpi.h>

#include <string>

namespace headrace::bench {

/// All ranks throw AgreedFailure unless rank 0 can write the results to `path`; what is there stays
/// as it is. Standard output ("-") and no file at all ("") always can. Collective.
void require_results_file(MPI_Comm communicator, const std::string& path);

/// Rank 0 writes `text` and a final newline to `path`, replacing what it held; the others' text is
/// not used. All ranks throw AgreedFailure where that fails. Collective.
void write_results_file(MPI_Comm communicator, const std::string& path, const std::string& text);

}  // namespace headrace::bench
