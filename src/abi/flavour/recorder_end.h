#pragma once

#include "record/process_facts.h"

/// What the recorder does when the job ends.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Which MPI it is.
record::Facts job_facts();

/// MPI has ended on this rank. Rank 0 of a job on one node makes the record.
void finish_record();

}  // namespace headrace::HEADRACE_FLAVOUR::recording
