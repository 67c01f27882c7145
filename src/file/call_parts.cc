#include "fabric/combined.h"
#include "file/atomic_transfer.h"
#include "file/call_executor.h"

// Calls whose data is converted in parts.

namespace headrace::file {

/// The number of calls that this rank makes: ranks that meet (all ranks, or those of a node) make
/// as many as the one with most parts. A rank that is alone on its node does not know whether ranks
/// of other nodes meet.
Result<std::int64_t> CallExecutor::most_calls(std::int64_t mine, const PreparedCall& prepared,
                                              const fabric::Waiter& waiter) {
  fabric::Greatest calls{mine};
  const bool may_send = !prepared.in_background || channel_.helpers_send();
  const bool all_meet =
      (prepared.joins_check && may_send) ||
      collective_.choice(prepared.call.direction).meets_between_nodes(prepared.in_background);
  if (all_meet) {
    if (Error error = channel_.combine(calls)) return error;
  } else if (channel_.nodes().shares_node()) {
    channel_.board().post(waiter, calls);
    calls = channel_.board().combine<fabric::Greatest>(waiter);
  }
  return calls.value;
}

Outcome CallExecutor::execute_parts(PreparedCall& prepared, const fabric::Waiter& waiter) {
  Parts* const parts = prepared.call.count > 0 ? prepared.call.parts : nullptr;
  std::int64_t calls = 1;
  Error failed;
  if (parts != nullptr) {
    failed = attempt([&]() -> Error {
      const Result<std::int64_t> opened = parts->open();
      if (opened) calls = opened.value();
      return opened ? Error{} : opened.error();
    });
  }
  Outcome outcome;
  const Result<std::int64_t> all =
      prepared.keeps_order() ? most_calls(calls, prepared, waiter) : calls;
  if (all) {
    Parts* const given = failed ? nullptr : parts;
    outcome = prepared.locking == Locking::none
                  ? move_parts(prepared, given, all.value(), waiter)
                  : move_parts_alone(prepared, given, all.value(), waiter);
  } else if (!failed) {
    failed = all.error();
  }
  if (parts != nullptr) parts->close();
  failures_.note_unwritten(prepared.call.direction, failed);
  if (failed) outcome.error = std::move(failed);
  return outcome;
}

/// Moves the parts one after another. A rank with no part left still takes part if others may need
/// it.
Outcome CallExecutor::move_parts(PreparedCall& prepared, Parts* parts, std::int64_t calls,
                                 const fabric::Waiter& waiter) {
  Outcome all;
  for (; calls > 0; --calls) {
    ByteCount bytes = 0;
    if (parts != nullptr && !all.error) {
      bytes = set_next_part(prepared, *parts, all.bytes, all.error);
    }
    if (bytes == 0) {
      if (!prepared.keeps_order()) break;
      drop_data(prepared);
    }
    Outcome outcome = execute_once(prepared, waiter);
    if (bytes > 0) {
      all.bytes += outcome.bytes;
      parts->take(outcome);
    }
    if (!all.error) all.error = std::move(outcome.error);
  }
  return all;
}

/// The same in atomic mode: under one lock on all that the call touches.
Outcome CallExecutor::move_parts_alone(PreparedCall& prepared, Parts* parts, std::int64_t calls,
                                       const fabric::Waiter& waiter) {
  if (parts == nullptr || prepared.access.bytes == 0) {
    return move_parts(prepared, parts, calls, waiter);
  }
  const ByteCount bytes = prepared.access.bytes;
  CollectiveTransfer::Moved nothing;
  AtomicLock lock(channel_, store_, prepared.access, waiter);
  nothing.transferred.system_error = lock.system_error();
  if (lock.system_error() != 0) return finish(prepared.call, bytes, nothing);
  prepared.locking = Locking::held;
  Outcome outcome = move_parts(prepared, parts, calls, waiter);
  nothing.transferred.system_error = lock.give_up();
  if (nothing.transferred.system_error != 0 && !outcome.error) {
    outcome.error = finish(prepared.call, bytes, nothing).error;
  }
  return outcome;
}

/// Makes `prepared` the call for the next part, `before` bytes after the beginning. Returns how
/// many bytes the part has; 0 if none is left, or on failure.
ByteCount CallExecutor::set_next_part(PreparedCall& prepared, Parts& parts, ByteCount before,
                                      Error& failed) {
  ByteCount bytes = 0;
  failed = attempt([&]() -> Error {
    const Result<std::span<std::byte>> data = parts.next();
    if (!data) return data.error();
    TransferCall& call = prepared.call;
    call.buffer = data.value().data();
    call.count = static_cast<std::int64_t>(data.value().size());
    const std::int64_t etypes = before / unit_of(*prepared.view);
    prepared.access = access_of(call, *prepared.view, prepared.position + etypes);
    if (prepared.verifies) prepared.written = std::make_unique<Access>(prepared.access);
    bytes = call.count;
    return {};
  });
  failures_.note_unwritten(prepared.call.direction, failed);
  return failed ? 0 : bytes;
}

}  // namespace headrace::file
