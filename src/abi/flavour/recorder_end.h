#pragma once

/// What the recorder does when the job ends.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// MPI has ended on this rank. Rank 0 of a job on one node makes the record.
void finish_record();

}  // namespace headrace::HEADRACE_FLAVOUR::recording
