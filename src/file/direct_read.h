#pragma once

#include "file/direct_transfer.h"

namespace headrace::file {

/// The reads of direct_transfer() that are not one stretch of file and memory. `access.bytes` > 0.
Transferred direct_read(storage::Store& store, const Access& access, ByteCount sieve_size);

}  // namespace headrace::file
