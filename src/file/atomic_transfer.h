#pragma once

#include <functional>

#include "exchange/file_channel.h"
#include "file/agreement.h"
#include "file/direct_transfer.h"
#include "plan/windows.h"

namespace headrace::file {

/// A function that is called with what was moved.
using MovedUnderLock = std::function<void(const Transferred&)>;

/// The lock of a call in atomic mode, on the range from its first to its last byte: exclusive for a
/// write, shared for a read. On one node, the locks lie in the node's memory. Across nodes, the
/// file system's locks are taken, too; probe_locks() has found that they work. A thread holds one
/// lock at a time.
class AtomicLock {
 public:
  /// Takes the lock; `waiter` says how to wait. `access` must have at least one byte.
  AtomicLock(exchange::FileChannel& channel, storage::Store& store, const Access& access,
             const fabric::Waiter& waiter);
  ~AtomicLock() { give_up(); }
  AtomicLock(const AtomicLock&) = delete;
  AtomicLock& operator=(const AtomicLock&) = delete;

  /// The errno with which taking it failed, or 0.
  int system_error() const { return system_error_; }
  /// Returns an errno, or 0.
  int give_up();

 private:
  exchange::RangeLocks& locks_;
  storage::Store* store_;  ///< null on one node
  plan::FileRange range_;
  int place_ = -1;  ///< in locks_; -1: not taken
  int system_error_ = 0;
};

/// direct_transfer() under a lock that the caller holds. Calls `on_moved` with what was moved.
/// Throws nothing.
Transferred transfer_alone(storage::Store& store, const Access& access, ByteCount sieve_size,
                           const MovedUnderLock& on_moved);

/// direct_transfer() under an AtomicLock, so that no conflicting call on this file runs at the same
/// time on any rank. From any thread; `waiter` says how to wait. Calls `on_moved` before it gives
/// up the lock.
Transferred atomic_transfer(exchange::FileChannel& channel, storage::Store& store,
                            const Access& access, ByteCount sieve_size,
                            const fabric::Waiter& waiter, const MovedUnderLock& on_moved = {});

/// Collective: success on all ranks if the file system's locks work, as atomic_transfer() needs.
Error probe_locks(exchange::FileChannel& channel, storage::Store& store, const Action& what);

}  // namespace headrace::file
