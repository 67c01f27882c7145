#pragma once

namespace headrace::HEADRACE_FLAVOUR {

/// Collective over MPI_COMM_WORLD, after MPI_Init: rank 0 shows on which CPUs and nodes ranks run,
/// with what is wrong there, if the settings ask for it. Returns at once if they do not.
void show_bindings();

/// Before MPI ends: this rank's threads, if there are several and the settings ask for it.
void show_threads(int rank);

}  // namespace headrace::HEADRACE_FLAVOUR
