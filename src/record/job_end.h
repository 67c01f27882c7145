#pragma once

#include "record/process_facts.h"

namespace headrace::record {

/// MPI has ended on this rank, or is about to be left. Rank 0 makes the record of what all ranks
/// have kept, and removes that; it waits two seconds at most for ranks that have not come to
/// MPI_Finalize. `facts` are of the job. Nothing is recorded afterwards.
void finish_job(const Facts& facts);

}  // namespace headrace::record
