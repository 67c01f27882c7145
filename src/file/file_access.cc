#include <algorithm>
#include <atomic>
#include <cerrno>

#include "file/agreement.h"
#include "file/atomic_transfer.h"
#include "file/open_file.h"

// Views, pointers and transfers of an open file.

namespace headrace::file {
Error OpenFile::set_view(Result<View> view, const Hints& hints) {
  drain_lane();
  Error failed;
  if (mode_.sequential) {
    failed = attempt([&]() -> Error {
      const Result<FileOffset> current = shared_byte_offset();
      if (!current) return current.error();
      if (view) view.value().displacement = current.value();
      return {};
    });
  }
  shared_->clear_next();
  HintsInUse next_hints;
  std::shared_ptr<const View> next;
  Error own = attempt([&]() -> Error {
    next_hints = hints_->with(hints);
    if (Error error = check_view(view, mode_)) return error;
    next = std::make_shared<const View>(std::move(view.value()));
    return {};
  });
  if (!failed) failed = std::move(own);
  Result<Agreement> agreement =
      agree(*channel_, failed, {"set a view of", path_}, next_hints.values,
            failed ? *pointer_.view() : *next, layout_, file_number());
  if (!agreement) return agreement.error();
  pointer_.set_view(std::move(next), [&] {
    shared_->use_next();
    hints_->set(std::move(next_hints));
  });
  collective_->set(agreement.value());
  tell_corrections(agreement.value());
  return {};
}

Error OpenFile::seek(std::int64_t offset, Whence whence) {
  if (mode_.sequential) return only_in_sequence(path_);
  Result<std::int64_t> end = std::int64_t{0};
  if (whence == Whence::end) end = end_position();
  return end ? pointer_.seek(offset, whence, end.value()) : end.error();
}

/// The first position, in etypes, whose bytes lie at or behind the end of the file.
Result<std::int64_t> OpenFile::end_position() {
  const Result<ByteCount> size = store_->size();
  return size ? pointer_.end_position(size.value()) : size.error();
}

View OpenFile::current_view() const {
  return *pointer_.view();
}

std::int64_t OpenFile::position() const {
  return pointer_.position();
}

Result<FileOffset> OpenFile::byte_offset(std::int64_t offset) const {
  return pointer_.byte_offset(offset);
}

Access OpenFile::access_of(const TransferCall& call, const View& view,
                           std::int64_t position) const {
  Access access{call.direction, view::Cursor(view.filetype, view.displacement),
                view::Cursor(call.type, 0, call.count * call.type->size()),
                static_cast<std::byte*>(call.buffer), call.count * call.type->size()};
  // A view that shows no bytes: there is nothing to go to.
  if (view.filetype->size() == 0) access.bytes = 0;
  if (access.bytes > 0) access.file.seek(position * unit_of(view));
  return access;
}

/// Checks a call, takes its place in the file, and moves the pointer by what it asks for. A call
/// that fails here moves nothing; in a collective one its rank must still take part.
OpenFile::Prepared OpenFile::prepare(const TransferCall& call, bool in_background) {
  TransferCall valid = call;
  const ByteCount unit = pointer_.unit();
  Error failed = attempt([&] { return check_call(call, path_, mode_, unit, split_.is_active()); });
  std::unique_ptr<device::Staging> staging;
  if (!failed) failed = stage_device_data(valid, staging);
  if (failed) valid.count = 0;
  std::int64_t shared = 0;
  if (call.shared) shared = take_shared_place(valid, unit, failed);
  const ByteCount bytes = valid.count * valid.type->size();
  // Calls that only read cannot conflict.
  const bool is_atomic = is_atomic_ && mode_.write;
  const bool is_looked_at = verification_ && call.collective;
  const bool verifies = is_looked_at && call.direction == Direction::write;
  const bool joins_check = is_looked_at && !is_atomic;
  std::optional<Access> access;
  std::unique_ptr<Access> written;
  const auto make = [&](const View& view, std::int64_t position) -> Error {
    access.emplace(access_of(valid, view, position));
    if (staging) {
      access->memory = view::Cursor(byte_, 0, bytes);
      access->staging = staging.get();
    }
    if (verifies) written = std::make_unique<Access>(*access);
    return {};
  };
  FilePointer::Place place = pointer_.take(call, unit, bytes, shared, failed, make);
  if (failed) {
    valid.count = 0;
    written.reset();
    access.emplace(no_access(call.direction));
  }
  const bool meets =
      call.collective && (in_background ? collective_->choice(call.direction).meets_in_background()
                                        : collective_->choice(call.direction).meets());
  return {.call = std::move(valid),
          .view = std::move(place.view),
          .position = place.position,
          .access = std::move(*access),
          .sieve_size = std::min(hints_->sieve_size(), own_share_),
          .meets = meets,
          .locking = is_atomic ? Locking::to_take : Locking::none,
          .verifies = verifies,
          .joins_check = joins_check,
          .written = std::move(written),
          .staging = std::move(staging),
          .in_background = in_background,
          .move = place.move,
          .failed = std::move(failed)};
}

/// Moves the data of a prepared call, and its cursors. Waits, where it must, as `waiter` says.
/// `on_moved`: see atomic_transfer().
CollectiveTransfer::Moved OpenFile::move(Prepared& prepared, const fabric::Waiter& waiter,
                                         const MovedUnderLock& on_moved) {
  const TransferCall& call = prepared.call;
  Access& access = prepared.access;
  CollectiveTransfer::Moved moved;
  const Error failed = attempt([&]() -> Error {
    if (prepared.meets) {
      moved = collective_->transfer(access, prepared.sieve_size, waiter, prepared.in_background);
      return {};
    }
    if (call.collective) collective_->choice(call.direction).note_call(prepared.in_background);
    if (prepared.locking == Locking::none) {
      moved.transferred = direct_transfer(*store_, std::move(access), prepared.sieve_size);
    } else if (prepared.locking == Locking::held) {
      moved.transferred = transfer_alone(*store_, access, prepared.sieve_size, on_moved);
    } else {
      moved.transferred =
          atomic_transfer(*channel_, *store_, access, prepared.sieve_size, waiter, on_moved);
    }
    return {};
  });
  if (failed) moved.transferred.system_error = failed.system_error;
  return moved;
}

/// Moves the data of a prepared call and accounts for it.
Outcome OpenFile::carry_out_once(Prepared& prepared, const fabric::Waiter& waiter) {
  if (verification_) return carry_out_verified(prepared, waiter);
  const Direction direction = prepared.call.direction;
  const ByteCount reachable = prepared.access.bytes;
  CollectiveTransfer::Moved moved = move(prepared, waiter);
  const Error lost = end_staging(prepared.staging.get(), direction, moved.transferred);
  return finish(prepared.call, reachable, moved, lost ? &lost : nullptr);
}

Outcome OpenFile::transfer(const TransferCall& call) {
  if (const std::optional<StretchCall> stretch = stretch_of(call)) {
    if (std::optional<Outcome> outcome = transfer_stretch(*stretch)) return std::move(*outcome);
  }
  Prepared prepared = prepare(call, false);
  failures_->note_unwritten(call.direction, prepared.failed);
  // In a collective call the others may wait for this rank: it takes part with no data.
  if (prepared.failed && !call.collective) return {0, prepared.failed};
  if (prepared.keeps_order()) drain_lane();
  Outcome outcome = carry_out(prepared, channel_->waiter());
  if (prepared.failed) return {0, prepared.failed};
  const ByteCount missing = call.count * call.type->size() - outcome.bytes;
  if (missing > 0) pointer_.pull_back(call.direction, missing, prepared.move);
  return outcome;
}

/// What a call did, in the terms of the program, and in the file's counts. `reachable`: bytes of
/// the call that the view shows.
Outcome OpenFile::finish(const TransferCall& call, ByteCount reachable,
                         const CollectiveTransfer::Moved& moved, const Error* wrong) {
  const ByteCount bytes = moved.transferred.bytes;
  const int reason = moved.transferred.system_error;
  count(call.direction, moved.path, bytes);
  if (reason != 0) return {bytes, failures_->fail(call.direction, reason)};
  if (wrong != nullptr) {
    // The class is what the others are told.
    failures_->note(call.direction, wrong->error_class == ErrorClass::no_memory ? ENOMEM : EIO);
    return {bytes, *wrong};
  }
  const bool shows_nothing =
      call.direction == Direction::write && reachable < call.count * call.type->size();
  return {bytes, shows_nothing ? failures_->fail(call.direction, 0) : Error{}};
}

void OpenFile::count(Direction direction, policy::Path path, ByteCount bytes) {
  const bool staged = path != policy::Path::direct;
  ByteCount& total = direction == Direction::write
                         ? (staged ? totals_.written_staged : totals_.written_directly)
                         : (staged ? totals_.read_staged : totals_.read_directly);
  std::atomic_ref(total).fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace headrace::file
