#pragma once

#include "engine/direct_transfer.h"

namespace headrace::engine {

/// The reads of direct_transfer() that are not one stretch of file and memory. `access.bytes` > 0.
Transferred direct_read(storage::Store& store, const Access& access, ByteCount sieve_size);

}  // namespace headrace::engine
