// What all ranks saw, brought together on rank 0.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "fuzz/observations.h"
#include "fuzz_file.h"

namespace headrace::fuzz {

/// Collective over `comm`. The observations of all its ranks on rank 0, nothing elsewhere.
Observations gather(MPI_Comm comm, const std::vector<std::unique_ptr<FuzzFile>>& files);

}  // namespace headrace::fuzz
