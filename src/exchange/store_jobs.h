#pragma once

#include "exchange/exchanged_call.h"

namespace headrace::exchange {

/// A leader's call: a window of its node's own is complete, or (reading) has its slot.
void add_store_job(const ExchangedCall& call, int leader, const StoreJob& job);

/// Whether there is a window to write or to load that nobody has taken. A leader's windows are
/// written one after the other, since writes of an inode exclude each other; those of several side
/// by side, as they go to different storage targets. All are loaded side by side.
bool has_store_job(const ExchangedCall& call, Direction direction);

/// Writes or loads the next window; false where there is none. For any rank of the node that would
/// have to wait.
bool do_store_job(const ExchangedCall& call, Direction direction);

}  // namespace headrace::exchange
