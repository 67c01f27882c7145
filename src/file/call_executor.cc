#include "file/call_executor.h"

#include <algorithm>
#include <cerrno>

#include "base/settings.h"

namespace headrace::file {
namespace {

/// Smaller parts would cost more in calls than they save in memory.
constexpr ByteCount kLeastPart = ByteCount{4} << 10;
constexpr ByteCount kMaxPart = ByteCount{1} << 20;
/// All ranks of the node share this part (one eighth) of the node's memory.
constexpr ByteCount kShares = 8;

}  // namespace

ByteCount own_share_of(int node_size) {
  return std::max(kLeastPart, settings().node_memory / (kShares * node_size));
}

Access access_of(const TransferCall& call, const View& view, std::int64_t position) {
  Access access{call.direction, view::Cursor(view.filetype, view.displacement),
                view::Cursor(call.type, 0, call.count * call.type->size()),
                static_cast<std::byte*>(call.buffer), call.count * call.type->size()};
  // A view that shows no bytes has no place for data.
  if (view.filetype->size() == 0) access.bytes = 0;
  if (access.bytes > 0) access.file.seek(position * unit_of(view));
  return access;
}

CallExecutor::CallExecutor(exchange::FileChannel& channel, storage::Store& store,
                           storage::Store& unbuffered, const std::string& path,
                           FailureLedger& failures, RecordedFile& recorded, bool verifies)
    : channel_(channel),
      store_(store),
      unbuffered_(unbuffered),
      path_(path),
      failures_(failures),
      recorded_(recorded),
      own_share_(own_share_of(channel.nodes().node_size())),
      collective_(channel, unbuffered_) {
  if (verifies) verification_ = std::make_unique<Verification>(channel, unbuffered_, path);
}

ByteCount CallExecutor::part_size() const {
  return std::min(kMaxPart, own_share_);
}

Access CallExecutor::no_access(Direction direction) const {
  return {direction, view::Cursor(byte_, 0, 0), view::Cursor(byte_, 0, 0), nullptr, 0};
}

Outcome CallExecutor::execute(PreparedCall& prepared, const fabric::Waiter& waiter) {
  const bool is_collective = prepared.call.collective;
  const Direction direction = prepared.call.direction;
  const record::CallTimer timer(recorded_.counts(), is_collective);
  Outcome outcome =
      prepared.call.in_parts ? execute_parts(prepared, waiter) : execute_once(prepared, waiter);
  if (prepared.lost && !outcome.error) outcome.error = std::move(prepared.lost);
  if (is_collective) {
    recorded_.note_choice(collective_.choice(direction), direction, timer.elapsed());
  }
  return outcome;
}

void CallExecutor::execute_without_data(PreparedCall& prepared, const fabric::Waiter& waiter) {
  drop_data(prepared);
  static_cast<void>(execute(prepared, waiter));
}

/// Makes the call one without data. Takes no memory.
void CallExecutor::drop_data(PreparedCall& prepared) const {
  prepared.call.count = 0;
  prepared.access = no_access(prepared.call.direction);
  prepared.written.reset();
}

/// Moves the data of a prepared call and accounts for it.
Outcome CallExecutor::execute_once(PreparedCall& prepared, const fabric::Waiter& waiter) {
  if (verification_) return execute_verified(prepared, waiter);
  const Direction direction = prepared.call.direction;
  const ByteCount reachable = prepared.access.bytes;
  CollectiveTransfer::Moved moved = move(prepared, waiter);
  const Error lost = end_staging(prepared.staging.get(), direction, moved.transferred);
  return finish(prepared.call, reachable, moved, lost ? &lost : nullptr);
}

/// Moves the data of a prepared call, and its cursors. `waiter` says how to wait; `on_moved`: see
/// atomic_transfer().
CollectiveTransfer::Moved CallExecutor::move(PreparedCall& prepared, const fabric::Waiter& waiter,
                                             const MovedUnderLock& on_moved) {
  const TransferCall& call = prepared.call;
  Access& access = prepared.access;
  CollectiveTransfer::Moved moved;
  const Error failed = attempt([&]() -> Error {
    if (prepared.meets) {
      moved = meet(prepared, waiter);
      return {};
    }
    if (call.collective) collective_.choice(call.direction).note_call(prepared.in_background);
    if (prepared.locking == Locking::none) {
      moved.transferred = move_alone(prepared);
    } else if (prepared.locking == Locking::held) {
      moved.transferred = transfer_alone(unbuffered_, access, prepared.sieve_size, on_moved);
    } else {
      moved.transferred =
          atomic_transfer(channel_, unbuffered_, access, prepared.sieve_size, waiter, on_moved);
    }
    return {};
  });
  if (failed) moved.transferred.system_error = failed.system_error;
  return moved;
}

/// A call that this rank executes by itself. Only what is its own affair is buffered.
Transferred CallExecutor::move_alone(PreparedCall& prepared) {
  const bool is_private = !prepared.call.collective && !prepared.call.shared;
  if (is_private) return direct_transfer(store_, std::move(prepared.access), prepared.sieve_size);
  Transferred moved;
  between_settlings(prepared, [&] {
    moved = direct_transfer(unbuffered_, std::move(prepared.access), prepared.sieve_size);
  });
  return moved;
}

/// A call in which ranks meet: they write and read for each other, so no buffer may keep anything.
CollectiveTransfer::Moved CallExecutor::meet(PreparedCall& prepared, const fabric::Waiter& waiter) {
  CollectiveTransfer::Moved moved;
  between_settlings(prepared, [&] {
    moved =
        collective_.transfer(prepared.access, prepared.sieve_size, waiter, prepared.in_background);
  });
  return moved;
}

/// Moves bytes past the buffers. These are emptied before; and after, since calls of other threads
/// may have filled them meanwhile.
template <class Action>
void CallExecutor::between_settlings(PreparedCall& prepared, Action action) {
  const auto empty_buffers = [&] {
    if (Error lost = settle(); lost && !prepared.lost) prepared.lost = std::move(lost);
  };
  empty_buffers();
  action();
  empty_buffers();
}

Error CallExecutor::settle() {
  Error lost = store_.settle();
  if (lost) failures_.note(Direction::write, lost.system_error);
  return lost;
}

/// Adds what a call did to the file's counts, and returns it as the program is told. `reachable`:
/// bytes of the call that the view shows.
Outcome CallExecutor::finish(const TransferCall& call, ByteCount reachable,
                             const CollectiveTransfer::Moved& moved, const Error* wrong) {
  const ByteCount bytes = moved.transferred.bytes;
  const int reason = moved.transferred.system_error;
  count(call.direction, moved.path, bytes);
  if (reason != 0) return {bytes, failures_.fail(call.direction, reason)};
  if (wrong != nullptr) {
    // The other ranks are told the class only.
    failures_.note(call.direction, wrong->error_class == ErrorClass::no_memory ? ENOMEM : EIO);
    return {bytes, *wrong};
  }
  const bool shows_nothing =
      call.direction == Direction::write && reachable < call.count * call.type->size();
  return {bytes, shows_nothing ? failures_.fail(call.direction, 0) : Error{}};
}

}  // namespace headrace::file
