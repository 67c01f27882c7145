#pragma once

#include <functional>

#include "engine/agreement.h"
#include "engine/direct_transfer.h"
#include "exchange/channel.h"

namespace headrace::engine {

/// Is told what was moved.
using Look = std::function<void(const Transferred&)>;

/// direct_transfer() as if no conflicting one of this file went on anywhere at the same time: a
/// write has the range from its first to its last byte for itself, a read shares it with reads.
/// From any thread; waits, where it must, as `waiter` says.
///
/// On one node the locks lie in its memory. Across nodes they are those of the file system, which
/// probe_locks() has found to hold. `look` is called before others may come.
Transferred atomic_transfer(exchange::Channel& channel, storage::Store& store, const Access& access,
                            ByteCount sieve_size, const exchange::Waiter& waiter,
                            const Look& look = {});

/// Collective: success on all ranks where atomic_transfer() will do what it promises.
Error probe_locks(exchange::Channel& channel, storage::Store& store, const Undertaking& what);

}  // namespace headrace::engine
