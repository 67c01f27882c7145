#pragma once

#include "base/result.h"
#include "storage/store.h"

namespace headrace::file {

/// Takes a lock that lasts until the store is closed, keeps nobody out, and is of bytes that no
/// file has: only that there is one matters (storage::extends_writes). `rank`: that of the file, by
/// which locks of stores that cannot be read differ. An error: there are no locks.
Error hold_client_lock(storage::Store& store, bool can_read, int rank);

}  // namespace headrace::file
