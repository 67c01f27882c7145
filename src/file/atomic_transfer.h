#pragma once

#include <functional>

#include "exchange/file_channel.h"
#include "file/agreement.h"
#include "file/direct_transfer.h"
#include "plan/windows.h"

namespace headrace::file {

/// Is told what was moved.
using MovedUnderLock = std::function<void(const Transferred&)>;

/// What a call in atomic mode is kept apart by from those that conflict with it, from its first to
/// its last byte: a write has them for itself, a read shares them with reads. On one node the locks
/// lie in its memory. Across nodes they are those of the file system, which probe_locks() has found
/// to hold. A thread holds one at a time.
class AtomicLock {
 public:
  /// Waits, where it must, as `waiter` says. The access moves data.
  AtomicLock(exchange::FileChannel& channel, storage::Store& store, const Access& access,
             const fabric::Waiter& waiter);
  ~AtomicLock() { give_up(); }
  AtomicLock(const AtomicLock&) = delete;
  AtomicLock& operator=(const AtomicLock&) = delete;

  /// Why it could not be taken, or 0.
  int system_error() const { return system_error_; }
  /// The errno where that fails, or 0.
  int give_up();

 private:
  exchange::RangeLocks& locks_;
  storage::Store* store_;  ///< null on one node
  plan::FileRange range_;
  int place_ = -1;  ///< in locks_; -1: not taken
  int system_error_ = 0;
};

/// direct_transfer() under a lock that is held. `on_moved` is told what was moved. Throws nothing.
Transferred transfer_alone(storage::Store& store, const Access& access, ByteCount sieve_size,
                           const MovedUnderLock& on_moved);

/// direct_transfer() as if no conflicting one of this file went on anywhere at the same time. From
/// any thread; waits, where it must, as `waiter` says. `on_moved` is called before others may come.
Transferred atomic_transfer(exchange::FileChannel& channel, storage::Store& store,
                            const Access& access, ByteCount sieve_size,
                            const fabric::Waiter& waiter, const MovedUnderLock& on_moved = {});

/// Collective: success on all ranks where atomic_transfer() will do what it promises.
Error probe_locks(exchange::FileChannel& channel, storage::Store& store, const Action& what);

}  // namespace headrace::file
