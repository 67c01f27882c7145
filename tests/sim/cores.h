#pragma once

namespace headrace::sim {

/// Lets this thread's rank see `cores` cores on its node until its thread ends.
void see_cores(int cores);

}  // namespace headrace::sim
