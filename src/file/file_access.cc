#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/rounding.h"
#include "file/agreement.h"
#include "file/atomic_transfer.h"
#include "file/open_file.h"
#include "view/copy.h"
#include "view/wide.h"

// Views, pointers and transfers of an open file.

namespace headrace::file {
namespace {

constexpr const char* kTooFar =
    "the offset is too large (its place in the file does not fit in 62 bits), use a smaller one";

constexpr const char* kNoWholeEtypes =
    "the data does not consist of whole etypes of the view, change the count or the view";

/// Whether all offsets of `bytes` bytes of data from `position`, in etypes, fit in 62 bits.
bool fits(const View& view, std::int64_t position, ByteCount bytes) {
  using view::Wide;
  const view::Type& type = *view.filetype;
  if (type.size() == 0) return true;
  const Wide end = static_cast<Wide>(position) * unit_of(view) + bytes;
  const Wide tiles = end / type.size() + 1;
  const Wide extent = type.extent() < 0 ? -static_cast<Wide>(type.extent()) : type.extent();
  return end <= view::kLargest &&
         view.displacement + tiles * extent + type.true_upper_bound() <= view::kLargest;
}

Error check_view(const View& view) {
  if (view.displacement < 0) {
    return {ErrorClass::argument, 0,
            "the displacement is " + std::to_string(view.displacement) +
                " (it must not be negative, and MPI_DISPLACEMENT_CURRENT needs "
                "MPI_MODE_SEQUENTIAL), give bytes from the beginning of the file"};
  }
  if (view.filetype->size() % unit_of(view) != 0) {
    return {ErrorClass::argument, 0,
            "the filetype has " + std::to_string(view.filetype->size()) +
                " bytes (no whole number of etypes of " + std::to_string(unit_of(view)) +
                "), build it from the etype"};
  }
  if (view.filetype->size() > 0 && view.displacement + view.filetype->true_lower_bound() < 0) {
    return {ErrorClass::argument, 0,
            "the view begins before the file (its filetype has negative displacements), move it"};
  }
  return {};
}

}  // namespace

Error OpenFile::check(const Result<View>& view) const {
  if (!view) return view.error();
  if (view.value().from_shared_pointer == mode_.sequential) return check_view(view.value());
  return {ErrorClass::argument, 0,
          "the displacement does not fit the access mode (MPI_DISPLACEMENT_CURRENT goes with "
          "MPI_MODE_SEQUENTIAL, and nothing else does), give the other one"};
}

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
    next_hints = hints_with(hints);
    if (Error error = check(view)) return error;
    next = std::make_shared<const View>(std::move(view.value()));
    return {};
  });
  if (!failed) failed = std::move(own);
  Result<Agreement> agreement =
      agree(*channel_, failed, {"set a view of", path_}, next_hints.values, failed ? *view_ : *next,
            layout_, file_number());
  if (!agreement) return agreement.error();
  {
    const std::lock_guard lock(mutex_);
    show(std::move(next));
    position_ = 0;
    shared_->use_next();
    seeks_ += 1;
    hints_ = std::move(next_hints);
  }
  collective_->set(agreement.value());
  tell_corrections(agreement.value());
  return {};
}

Error OpenFile::seek(std::int64_t offset, Whence whence) {
  if (mode_.sequential) return only_in_sequence();
  Result<std::int64_t> base = std::int64_t{0};
  if (whence == Whence::end) base = end_position();
  if (!base) return base.error();
  const std::lock_guard lock(mutex_);
  // Not before: another thread may move the pointer.
  if (whence == Whence::current) base = position_;
  const Result<std::int64_t> target = seek_target(base.value(), offset);
  if (!target) return target.error();
  position_ = target.value();
  seeks_ += 1;
  return {};
}

Result<std::int64_t> OpenFile::seek_target(std::int64_t base, std::int64_t offset) const {
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target)) {
    return Error{ErrorClass::argument, 0,
                 "cannot seek that far in '" + path_ +
                     "' (the position does not fit in 63 bits), use a smaller "
                     "offset"};
  }
  if (target >= 0) return target;
  return Error{
      ErrorClass::argument, 0,
      "cannot seek before the beginning of the view of '" + path_ + "', use a larger offset"};
}

/// The first position, in etypes, whose bytes lie at or behind the end of the file.
Result<std::int64_t> OpenFile::end_position() {
  Result<ByteCount> size = store_->size();
  if (!size) return size.error();
  const std::lock_guard lock(mutex_);
  const View& view = *view_;
  if (view.filetype->size() == 0) return std::int64_t{0};
  if (!view.filetype->is_monotonic()) {
    return Error{ErrorClass::unsupported_operation, 0,
                 "cannot seek to the end of '" + path_ +
                     "' (its view goes backwards or overlaps), seek from the beginning"};
  }
  const ByteCount below = view::data_below(*view.filetype, view.displacement, size.value());
  return divide_up(below, unit_of(view));
}

/// Takes a view: mutex_ is held, or nobody else knows the file.
void OpenFile::show(std::shared_ptr<const View> view) {
  view_ = std::move(view);
  unit_.store(unit_of(*view_), std::memory_order_relaxed);
  stretch_.set(viewed_stretch_of(*view_));
}

View OpenFile::current_view() const {
  const std::lock_guard lock(mutex_);
  return *view_;
}

std::int64_t OpenFile::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

Result<FileOffset> OpenFile::byte_offset(std::int64_t offset) const {
  const std::lock_guard lock(mutex_);
  const View& view = *view_;
  if (offset < 0) return Error{ErrorClass::argument, 0, "the offset is negative, use 0 or more"};
  if (view.filetype->size() == 0) return view.displacement;
  if (!fits(view, offset, 1)) return Error{ErrorClass::argument, 0, kTooFar};
  return view::offset_of(*view.filetype, view.displacement, offset * unit_of(view));
}

/// Everything about a call but its place in the file. `unit`: bytes of an etype.
Error OpenFile::check(const TransferCall& call, ByteCount unit) const {
  if (call.refused != ErrorClass::success) return {call.refused, 0, {}};
  const bool writes = call.direction == Direction::write;
  if (writes && !mode_.write) {
    return {ErrorClass::read_only, 0,
            "cannot write to '" + path_ +
                "' (it was opened with MPI_MODE_RDONLY), open it for writing"};
  }
  if (!writes && !mode_.read) {
    return {ErrorClass::access, 0,
            "cannot read from '" + path_ +
                "' (it was opened with MPI_MODE_WRONLY), open it for reading"};
  }
  if (mode_.sequential && !call.shared) return only_in_sequence();
  if (call.count < 0) {
    return {ErrorClass::count, 0, "the count is negative, use 0 or more"};
  }
  if (call.offset && *call.offset < 0) {
    return {ErrorClass::argument, 0, "the offset is negative, use 0 or more"};
  }
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(call.count, call.type->size(), &bytes)) {
    return {ErrorClass::count, 0, "the count is too large, its bytes do not fit in 63 bits"};
  }
  if (unit > 1 && bytes % unit != 0) return {ErrorClass::argument, 0, kNoWholeEtypes};
  if (call.collective && is_splitting_.load(std::memory_order_relaxed)) {
    return {ErrorClass::io, 0,
            "a split collective call is active on '" + path_ +
                "' (no other collective access may go on beside it), end it first"};
  }
  return {};
}

/// Whether a call has a place in the view of now: another thread may have set one since the call
/// was checked with etypes of `unit` bytes. mutex_ is held.
Error OpenFile::check_place(const TransferCall& call, ByteCount unit, std::int64_t position,
                            ByteCount bytes) const {
  if (unit_of(*view_) != unit && call.shared) {
    return {ErrorClass::io, 0,
            "another thread set a view of '" + path_ +
                "' while this call took its place by the shared pointer, let one end before the "
                "other"};
  }
  if (bytes % unit_of(*view_) != 0) return {ErrorClass::argument, 0, kNoWholeEtypes};
  if (!fits(*view_, position, bytes)) return {ErrorClass::argument, 0, kTooFar};
  return {};
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
  const ByteCount unit = unit_.load(std::memory_order_relaxed);
  Error failed = attempt([&] { return check(call, unit); });
  std::unique_ptr<device::Staging> staging;
  if (!failed) failed = stage_device_data(valid, staging);
  if (failed) valid.count = 0;
  std::int64_t shared = 0;
  if (call.shared) shared = take_shared_place(valid, unit, failed);
  const ByteCount bytes = valid.count * valid.type->size();
  const std::lock_guard lock(mutex_);
  const std::int64_t position = call.shared ? shared : call.offset.value_or(position_);
  // Calls that only read cannot conflict.
  const bool is_atomic = is_atomic_ && mode_.write;
  const bool is_looked_at = verification_ && call.collective;
  const bool verifies = is_looked_at && call.direction == Direction::write;
  const bool attends = is_looked_at && !is_atomic;
  std::optional<Access> access;
  std::unique_ptr<Access> written;
  if (!failed) {
    failed = attempt([&]() -> Error {
      if (Error error = check_place(call, unit, position, bytes)) return error;
      access.emplace(access_of(valid, *view_, position));
      if (staging) {
        access->memory = view::Cursor(byte_, 0, bytes);
        access->staging = staging.get();
      }
      if (verifies) written = std::make_unique<Access>(*access);
      return {};
    });
  }
  if (failed) {
    valid.count = 0;
    access.emplace(no_access(call.direction));
  }
  PointerMove move;
  if (!failed && !call.offset && !call.shared) {
    position_ += bytes / unit_of(*view_);
    move = {unit_of(*view_), position_, seeks_};
  }
  const bool meets =
      call.collective && (in_background ? collective_->meets_in_background(call.direction)
                                        : collective_->meets(call.direction));
  return {.call = std::move(valid),
          .view = view_,
          .position = position,
          .access = std::move(*access),
          .sieve_size = std::min(hints_.values.sieve_size, own_share_),
          .meets = meets,
          .apart = is_atomic ? Apart::to_be_locked : Apart::no,
          .verifies = verifies,
          .attends = attends,
          .written = std::move(written),
          .staging = std::move(staging),
          .in_background = in_background,
          .move = move,
          .failed = std::move(failed)};
}

/// Moves the data of a prepared call, and its cursors. Waits, where it must, as `waiter` says.
/// `look`: see atomic_transfer().
CollectiveTransfer::Moved OpenFile::move(Prepared& prepared, const fabric::Waiter& waiter,
                                         const Look& look) {
  const TransferCall& call = prepared.call;
  Access& access = prepared.access;
  CollectiveTransfer::Moved moved;
  const Error failed = attempt([&]() -> Error {
    if (prepared.meets) {
      moved = collective_->transfer(access, prepared.sieve_size, waiter, prepared.in_background);
      return {};
    }
    if (call.collective) collective_->note_call(call.direction, prepared.in_background);
    if (prepared.apart == Apart::no) {
      moved.transferred = direct_transfer(*store_, std::move(access), prepared.sieve_size);
    } else if (prepared.apart == Apart::locked) {
      moved.transferred = transfer_alone(*store_, access, prepared.sieve_size, look);
    } else {
      moved.transferred =
          atomic_transfer(*channel_, *store_, access, prepared.sieve_size, waiter, look);
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
  note_unwritten(call, prepared.failed);
  // In a collective call the others may wait for this rank: it takes part with no data.
  if (prepared.failed && !call.collective) return {0, prepared.failed};
  if (prepared.keeps_order()) drain_lane();
  Outcome outcome = carry_out(prepared, channel_->waiter());
  if (prepared.failed) return {0, prepared.failed};
  const ByteCount missing = call.count * call.type->size() - outcome.bytes;
  if (missing > 0) pull_back(call.direction, missing, prepared.move);
  return outcome;
}

/// What a call did, in the terms of the program, and in the file's counts. `reachable`: bytes of
/// the call that the view shows.
Outcome OpenFile::finish(const TransferCall& call, ByteCount reachable,
                         const CollectiveTransfer::Moved& moved, const Error* wrong) {
  const ByteCount bytes = moved.transferred.bytes;
  const int reason = moved.transferred.system_error;
  count(call.direction, moved.path, bytes);
  if (reason != 0) return {bytes, failure_of(call.direction, reason)};
  if (wrong != nullptr) {
    // The class is what the others are told.
    note_failed_call(call.direction, wrong->error_class == ErrorClass::no_memory ? ENOMEM : EIO);
    return {bytes, *wrong};
  }
  const bool shows_nothing =
      call.direction == Direction::write && reachable < call.count * call.type->size();
  return {bytes, shows_nothing ? failure_of(call.direction, 0) : Error{}};
}

void OpenFile::count(Direction direction, policy::Path path, ByteCount bytes) {
  const bool staged = path != policy::Path::direct;
  ByteCount& total = direction == Direction::write
                         ? (staged ? totals_.written_staged : totals_.written_directly)
                         : (staged ? totals_.read_staged : totals_.read_directly);
  std::atomic_ref(total).fetch_add(bytes, std::memory_order_relaxed);
}

/// What the program is told of a call that failed; errno 0: its view shows no bytes.
Error OpenFile::failure_of(Direction direction, int system_error) {
  note_failed_call(direction, system_error);
  return told_of(direction, system_error);
}

}  // namespace headrace::file
