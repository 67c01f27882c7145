#include <algorithm>
#include <atomic>
#include <cerrno>

#include "file/agreement.h"
#include "file/atomic_transfer.h"
#include "file/open_file.h"

// Views, pointers and transfers of an open file.

namespace headrace::file {

Error OpenFile::set_view(Result<View> view, const Hints& hints) {
  const record::CallTimer timer(recorded_.counts(), false);
  calls_.wait_for_meetings();
  Error failed;
  if (mode_.sequential) {
    failed = attempt([&]() -> Error {
      const Result<FileOffset> current = positions_->shared_byte_offset();
      if (!current) return current.error();
      if (view) view.value().displacement = current.value();
      return {};
    });
  }
  positions_->clear_next_shared();
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
            failed ? *pointer_.view() : *next, found());
  if (!agreement) return agreement.error();
  pointer_.set_view(std::move(next), [&] {
    positions_->use_next_shared();
    hints_->set(std::move(next_hints));
  });
  executor_->collective().set(agreement.value());
  report_corrections(agreement.value());
  return {};
}

View OpenFile::current_view() const {
  return *pointer_.view();
}

Error OpenFile::set_atomicity(bool atomic) {
  // HEADRACE_VERIFY checks calls of the two modes in different ways, so they must not overlap.
  calls_.wait_for_all();
  Error lost = executor_->settle();
  auto given = fabric::Extremes::of(atomic ? 1 : 0);
  if (Error error = channel_->combine(given)) return error;
  const Action what{"set the atomic mode of", path_};
  if (!given.are_same()) {
    return {ErrorClass::not_same, 0,
            what.text() + " (not all ranks ask for it), pass the same value everywhere"};
  }
  if (atomic && mode_.write) {
    if (Error error = probe_locks(*channel_, *store_, what)) return error;
  }
  executor_->collective().set_atomic(atomic);
  is_atomic_ = atomic;
  return lost;
}

/// Checks a call, takes its place in the file, and moves the pointer by what it asks for. A call
/// that fails here moves nothing, but the rank must still take part if it is collective.
PreparedCall OpenFile::prepare(const TransferCall& call, bool in_background) {
  TransferCall valid = call;
  const ByteCount unit = pointer_.unit();
  Error failed = attempt([&] { return check_call(call, path_, mode_, unit, split_.is_active()); });
  std::unique_ptr<device::Staging> staging;
  if (!failed) failed = executor_->stage_device_data(valid, staging);
  if (failed) valid.count = 0;
  std::int64_t shared = 0;
  if (call.shared) shared = positions_->take_shared(valid, unit, failed);
  const ByteCount bytes = valid.count * valid.type->size();
  // If the file is open for reading only, calls cannot conflict.
  const bool is_atomic = is_atomic_ && mode_.write;
  const bool is_checked = executor_->verifies() && call.collective;
  const bool verifies = is_checked && call.direction == Direction::write;
  const bool joins_check = is_checked && !is_atomic;
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
    access.emplace(executor_->no_access(call.direction));
  }
  const bool meets =
      call.collective &&
      (in_background ? executor_->collective().choice(call.direction).meets_in_background()
                     : executor_->collective().choice(call.direction).meets());
  return {.call = std::move(valid),
          .view = std::move(place.view),
          .position = place.position,
          .access = std::move(*access),
          .sieve_size = std::min(hints_->sieve_size(), executor_->own_share()),
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

Outcome OpenFile::transfer(const TransferCall& call) {
  if (const std::optional<StretchCall> stretch = stretch_of(call)) {
    if (std::optional<Outcome> outcome = transfer_stretch(*stretch)) return std::move(*outcome);
  }
  recorded_.note_call(call.direction, call.collective);
  PreparedCall prepared = prepare(call, false);
  failures_->note_unwritten(call.direction, prepared.failed);
  // The others may wait for this rank in a collective call: it takes part without data.
  if (prepared.failed && !call.collective) return {0, prepared.failed};
  if (prepared.keeps_order()) calls_.wait_for_meetings();
  Outcome outcome = executor_->execute(prepared, channel_->waiter());
  if (prepared.failed) return {0, prepared.failed};
  const ByteCount missing = call.count * call.type->size() - outcome.bytes;
  if (missing > 0) pointer_.pull_back(call.direction, missing, prepared.move);
  return outcome;
}

}  // namespace headrace::file
