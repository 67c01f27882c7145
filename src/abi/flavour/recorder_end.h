#pragma once

#include "base/settings.h"
#include "record/process_facts.h"

/// What the recorder does when the job ends.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Which MPI it is.
record::Facts job_facts();

bool is_wanted(const Settings& settings);

/// MPI_Finalize has begun, and the program's own callbacks have run; MPI still works. Of a job on
/// several nodes rank 0 gets what all have recorded. Every rank of MPI_COMM_WORLD calls it, whether
/// it could record or not; each waits for the others, but not for ever. Nothing is recorded
/// afterwards.
void end_world() noexcept;

/// MPI_Abort will be called: the record says so. Harmless without a record.
void note_abort() noexcept;

/// MPI has ended on this rank. Rank 0 writes the record.
void finish_record() noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR::recording
