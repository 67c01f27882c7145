#include <algorithm>
#include <atomic>

#include "engine/agreement.h"
#include "engine/open_file.h"
#include "view/wide.h"

// Views, pointers and transfers of an open file.

namespace headrace::engine {
namespace {

/// Etypes of size 0 move nothing; any unit will do.
ByteCount unit_of(const View& view) {
  return std::max<ByteCount>(1, view.etype->size());
}

constexpr const char* kTooFar =
    "the offset is too large (its place in the file does not fit in 62 bits), use a smaller one";

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
  if (view.datarep != "native") {
    return {ErrorClass::unsupported_datarep, 0,
            "the data representation '" + view.datarep +
                "' is not available with Headrace (only 'native' is carried yet), use 'native' or "
                "run this program with HEADRACE_DISABLE=1"};
  }
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

Error OpenFile::set_view(Result<View> view, const Hints& hints) {
  const Error failed = view ? check_view(view.value()) : view.error();
  HintValues values = values_;
  take_hints(hints, values);
  const view::Type& agreed_on = failed ? *view_->filetype : *view.value().filetype;
  Result<Agreement> agreement =
      agree(*channel_, failed, "cannot set a view of '" + path_ + "'", values, agreed_on);
  if (!agreement) return agreement.error();
  {
    const std::lock_guard lock(mutex_);
    view_ = std::make_shared<const View>(std::move(view.value()));
    position_ = 0;
  }
  values_ = values;
  collective_->set(agreement.value());
  return {};
}

Error OpenFile::seek(std::int64_t offset, Whence whence) {
  std::int64_t base = 0;
  if (whence == Whence::current) base = position();
  if (whence == Whence::end) {
    Result<std::int64_t> end = end_position();
    if (!end) return end.error();
    base = end.value();
  }
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target)) {
    return {ErrorClass::argument, 0,
            "cannot seek that far in '" + path_ +
                "' (the position does not fit in 63 bits), use a smaller "
                "offset"};
  }
  if (target < 0) {
    return {ErrorClass::argument, 0,
            "cannot seek before the beginning of the view of '" + path_ + "', use a larger offset"};
  }
  const std::lock_guard lock(mutex_);
  position_ = target;
  return {};
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
  return (below + unit_of(view) - 1) / unit_of(view);
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

Error OpenFile::check(const TransferCall& call) const {
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
  if (mode_.sequential) {
    return {ErrorClass::unsupported_operation, 0,
            "'" + path_ + "' was opened with MPI_MODE_SEQUENTIAL, use shared or ordered access"};
  }
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
  if (bytes % unit_of(*view_) != 0) {
    return {ErrorClass::argument, 0,
            "the data does not consist of whole etypes of the view, change the count or the view"};
  }
  if (!fits(*view_, call.offset ? *call.offset : position(), bytes)) {
    return {ErrorClass::argument, 0, kTooFar};
  }
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

/// The most frequent call: one stretch of memory, one stretch of the file, and nobody to meet. It
/// is spared what views cost. Nothing where the call is another one, or has an error to be told.
std::optional<Outcome> OpenFile::transfer_stretch(const TransferCall& call) {
  const view::Type& filetype = *view_->filetype;
  const bool writes = call.direction == Direction::write;
  if (!filetype.is_contiguous() || !call.type->is_contiguous()) return std::nullopt;
  if (call.collective && collective_->meets(call.direction)) return std::nullopt;
  if (!(writes ? mode_.write : mode_.read) || mode_.sequential || call.count < 0) {
    return std::nullopt;
  }
  const ByteCount unit = unit_of(*view_);
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(call.count, call.type->size(), &bytes)) return std::nullopt;
  if (unit > 1 && bytes % unit != 0) return std::nullopt;
  const std::int64_t position = call.offset ? *call.offset : this->position();
  FileOffset begin = 0;
  FileOffset end = 0;
  if (position < 0 || __builtin_mul_overflow(position, unit, &begin) ||
      __builtin_add_overflow(begin, view_->displacement + filetype.true_lower_bound(), &begin) ||
      __builtin_add_overflow(begin, bytes, &end) || end > view::kLargest) {
    return std::nullopt;
  }
  if (!call.offset) {
    const std::lock_guard lock(mutex_);
    // Another thread was first: the usual way finds its own place.
    if (position_ != position) return std::nullopt;
    position_ += bytes / unit;
  }
  const iovec segment{memory_at(call.buffer, call.type->true_lower_bound()),
                      static_cast<std::size_t>(bytes)};
  CollectiveTransfer::Moved moved;
  if (bytes > 0) {
    moved.transferred =
        writes ? store_->write(begin, {&segment, 1}) : store_->read(begin, {&segment, 1});
  }
  if (call.collective) collective_->note_call(call.direction);
  return finish(call, bytes, moved);
}

Outcome OpenFile::transfer(const TransferCall& call) {
  if (std::optional<Outcome> outcome = transfer_stretch(call)) return std::move(*outcome);
  Error failed = check(call);
  // In a collective call the others may wait for this rank: it takes part with no data.
  if (failed && !call.collective) return {0, failed};
  std::shared_ptr<const View> view;
  std::int64_t position = 0;
  TransferCall valid = call;
  if (failed) valid.count = 0;
  {
    const std::lock_guard lock(mutex_);
    view = view_;
    position = call.offset.value_or(position_);
    if (!call.offset) position_ += valid.count * valid.type->size() / unit_of(*view);
  }
  const Access access = access_of(valid, *view, position);
  CollectiveTransfer::Moved moved;
  if (call.collective) {
    moved = collective_->transfer(access, values_.sieve_size, channel_->waiter());
  } else {
    moved.transferred = direct_transfer(*store_, access, values_.sieve_size);
  }
  if (failed) return {0, failed};
  return finish(valid, access.bytes, moved);
}

Outcome OpenFile::finish(const TransferCall& call, ByteCount reachable,
                         const CollectiveTransfer::Moved& moved) {
  const ByteCount wanted = call.count * call.type->size();
  Outcome outcome{moved.transferred.bytes, {}};
  const bool writes = call.direction == Direction::write;
  if (const int reason = moved.transferred.system_error; reason != 0) {
    outcome.error =
        system_failure(reason, (writes ? "cannot write to '" : "cannot read from '") + path_ + "'");
    if (writes) channel_->note_failed_write(reason);
  } else if (writes && reachable < wanted) {
    outcome.error = {ErrorClass::argument, 0,
                     "cannot write to '" + path_ + "' (the view shows no bytes), set another view"};
  }
  const bool staged = moved.path == policy::Path::staged;
  ByteCount& total = writes ? (staged ? totals_.written_staged : totals_.written_directly)
                            : (staged ? totals_.read_staged : totals_.read_directly);
  std::atomic_ref(total).fetch_add(outcome.bytes, std::memory_order_relaxed);
  if (outcome.bytes == wanted && !outcome.error) return outcome;
  const std::lock_guard lock(mutex_);
  // The pointer was moved by what was asked for; it stands behind the whole etypes that were done.
  const ByteCount unit = unit_of(*view_);
  if (!call.offset) position_ -= (wanted - outcome.bytes + unit - 1) / unit;
  if (outcome.error) {
    totals_.failed_calls += 1;
    // Only a call that the file system failed leaves data missing that others may count on.
    if (writes && moved.transferred.system_error != 0) own_failed_writes_ += 1;
  }
  return outcome;
}

}  // namespace headrace::engine
