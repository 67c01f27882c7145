#pragma once

#include "exchange/exchanged_call.h"

namespace headrace::exchange {

/// Called by a leader when a window that its node owns is complete (write), or has its slot (read).
void add_store_job(const ExchangedCall& call, int leader, const StoreJob& job);

/// Whether there is a window to write or to load that no rank has taken. The windows of one leader
/// are written one after another, since writes to an inode exclude each other; those of several
/// leaders at the same time, since they go to different storage targets. Any number is loaded at
/// the same time.
bool has_store_job(const ExchangedCall& call, Direction direction);

/// Writes or loads the next window; false if there is none. Any rank of the node that would have to
/// wait may call it.
bool do_store_job(const ExchangedCall& call, Direction direction);

}  // namespace headrace::exchange
