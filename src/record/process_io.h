#pragma once

#include "record/access_counts.h"

namespace headrace::record {

/// What the kernel has counted for this process so far. Takes some 5 us, and no memory.
ProcessIo process_io() noexcept;

}  // namespace headrace::record
