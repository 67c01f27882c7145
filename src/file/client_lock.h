#pragma once

#include "base/result.h"
#include "storage/store.h"

namespace headrace::file {

/// Takes a lock that lasts until the store is closed, on a byte that no file has: only that there
/// is one matters (storage::extends_writes). It keeps out only who locks the whole file. Taken once
/// more, it lets an NFS client look for what other nodes have written: locks are points of
/// coherence (do_setlk() in Linux' fs/nfs/file.c). `rank`: that of the file, by which locks of
/// stores that cannot be read differ. An error: there are no locks, or the whole file is locked.
Error hold_client_lock(storage::Store& store, bool can_read, int rank);

}  // namespace headrace::file
