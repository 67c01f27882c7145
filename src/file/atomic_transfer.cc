#include "file/atomic_transfer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "file/agreement.h"

namespace headrace::file {
namespace {

using exchange::RangeLocks;
using storage::LockMode;

/// The offset at which locks are probed: no file is that long.
constexpr FileOffset kProbe = FileOffset{1} << 61;

/// A range that contains all bytes that a call touches.
plan::FileRange bounds_of(const Access& access) {
  const view::Cursor& file = access.file;
  const view::Type& type = *file.type();
  const ByteCount last = file.position() + access.bytes - 1;
  if (type.is_monotonic()) {
    return {file.peek(), view::offset_of(type, file.origin(), last) + 1};
  }
  // Each tile's bytes lie within its bounds, and tiles are evenly spaced.
  const FileOffset first_tile = file.origin() + file.position() / type.size() * type.extent();
  const FileOffset last_tile = file.origin() + last / type.size() * type.extent();
  const FileOffset begin = std::min(first_tile, last_tile) + type.true_lower_bound();
  return {std::max<FileOffset>(0, begin),
          std::max(first_tile, last_tile) + type.true_upper_bound()};
}

Error no_locks(const Action& what, const std::string& why) {
  return {ErrorClass::unsupported_operation, 0,
          what.text() + " across nodes (" + why +
              "), run on one node or use a file system that has locks, Lustre mounted with flock "
              "for example"};
}

/// Takes the lock on one byte, or gives it up (LockMode::none).
Error lock_byte(storage::Store& store, FileOffset byte, LockMode mode, const Action& what) {
  const Error failed = store.lock(byte, byte + 1, mode);
  return failed ? no_locks(what, std::strerror(failed.system_error)) : Error{};
}

/// Checks that the first rank's lock on a byte keeps this rank out.
Error meet_lock(storage::Store& store, const Action& what) {
  const Result<bool> locked = store.try_lock(kProbe, kProbe + 1, LockMode::exclusive);
  if (!locked) return no_locks(what, std::strerror(locked.error().system_error));
  if (!locked.value()) return {};
  const Error left = lock_byte(store, kProbe, LockMode::none, what);
  return left ? left : no_locks(what, "the file system's locks do not reach other nodes");
}

bool writes(const Access& access) {
  return access.direction == Direction::write;
}

}  // namespace

AtomicLock::AtomicLock(exchange::FileChannel& channel, storage::Store& store, const Access& access,
                       const fabric::Waiter& waiter)
    : locks_(channel.locks()),
      store_(channel.nodes().node_count() == 1 ? nullptr : &store),
      range_(bounds_of(access)) {
  const auto mode = writes(access) ? RangeLocks::Mode::exclusive : RangeLocks::Mode::shared;
  // A process owns its locks on a file: its threads must not share one, since the first thread to
  // give it up would give it up for all.
  place_ = locks_.lock(waiter, range_.begin, range_.end,
                       store_ == nullptr ? mode : RangeLocks::Mode::exclusive);
  if (store_ == nullptr) return;
  const Error failed = attempt([&] {
    return store.lock(range_.begin, range_.end,
                      writes(access) ? LockMode::exclusive : LockMode::shared);
  });
  if (!failed) return;
  system_error_ = failed.system_error;
  locks_.unlock(std::exchange(place_, -1));
}

int AtomicLock::give_up() {
  if (place_ < 0) return 0;
  Error failed;
  if (store_ != nullptr) {
    failed = attempt([&] { return store_->lock(range_.begin, range_.end, LockMode::none); });
  }
  locks_.unlock(std::exchange(place_, -1));
  return failed.system_error;
}

Transferred transfer_alone(storage::Store& store, const Access& access, ByteCount sieve_size,
                           const MovedUnderLock& on_moved) {
  Transferred done;
  const Error failed = attempt([&]() -> Error {
    done = direct_transfer(store, access, sieve_size);
    if (on_moved) on_moved(done);
    return {};
  });
  if (failed && done.system_error == 0) done.system_error = failed.system_error;
  return done;
}

Transferred atomic_transfer(exchange::FileChannel& channel, storage::Store& store,
                            const Access& access, ByteCount sieve_size,
                            const fabric::Waiter& waiter, const MovedUnderLock& on_moved) {
  if (access.bytes == 0) return {};
  AtomicLock lock(channel, store, access, waiter);
  if (lock.system_error() != 0) return {0, lock.system_error()};
  Transferred done = transfer_alone(store, access, sieve_size, on_moved);
  const int failed = lock.give_up();
  if (done.system_error == 0) done.system_error = failed;
  return done;
}

Error probe_locks(exchange::FileChannel& channel, storage::Store& store, const Action& what) {
  if (channel.nodes().node_count() == 1) return {};
  const bool holds = channel.nodes().rank() == 0;
  const auto lock = [&](FileOffset byte, LockMode mode) {
    return attempt([&] { return lock_byte(store, byte, mode, what); });
  };
  Error failed = lock(kProbe + 1, LockMode::exclusive);
  if (!failed) failed = lock(kProbe + 1, LockMode::none);
  const bool held = holds && !failed;
  if (held) failed = lock(kProbe, LockMode::exclusive);
  const auto agree = [&] {
    failed = attempt([&] { return agree_on_error(channel, failed, what); });
  };
  agree();
  if (failed) {
    if (held) static_cast<void>(lock(kProbe, LockMode::none));
    return failed;
  }
  if (!holds) failed = attempt([&] { return meet_lock(store, what); });
  agree();
  // Ranks in different modes would wait for each other at different places, so they agree on this,
  // too.
  const Error left = held ? lock(kProbe, LockMode::none) : Error{};
  if (!failed) failed = left;
  agree();
  return failed;
}

}  // namespace headrace::file
