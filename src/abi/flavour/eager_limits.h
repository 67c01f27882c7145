#pragma once

namespace headrace::HEADRACE_FLAVOUR {

/// Shows up to which size the library sends messages at once, as its control variables (MPI_T) have
/// it. Rank 0 calls it, after MPI_Init.
void show_eager_limits();

}  // namespace headrace::HEADRACE_FLAVOUR
