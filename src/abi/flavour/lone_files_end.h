#pragma once

/// Statistics of files of one rank, at the job's end.
namespace headrace::HEADRACE_FLAVOUR {

/// Once MPI runs. Where there is no MPI_COMM_WORLD, the job's size stays unknown.
void start_lone_files();

/// MPI_Finalize has begun, and all files are closed. Every rank of MPI_COMM_WORLD calls it; each
/// waits for the others, but not for ever. Rank 0 prints the sums.
void end_lone_files(int rank) noexcept;

/// Where ranks cannot reach each other: each prints its own.
void print_own_lone_files(int rank) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR
