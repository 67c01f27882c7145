#include "file/agreement.h"
#include "file/atomic_transfer.h"
#include "file/open_file.h"

// The shared pointer and atomic mode of an open file.

namespace headrace::file {
namespace {

/// What all ranks must give alike.
struct GivenSeek {
  fabric::Extremes offset;
  fabric::Extremes whence;

  void combine(const GivenSeek& other) {
    offset.combine(other.offset);
    whence.combine(other.whence);
  }
};

// What is tried.
constexpr const char* kFindPointer = "find the shared pointer of";
constexpr const char* kSeekPointer = "seek by the shared pointer of";

}  // namespace

/// Where a call by the shared pointer begins. Collective for an ordered call, in which a rank takes
/// part with no data where it failed.
std::int64_t OpenFile::take_shared_place(TransferCall& call, ByteCount unit, Error& failed) {
  if (failed && !call.collective) return 0;
  if (call.collective) drain_lane();
  const std::int64_t etypes = call.count * call.type->size() / unit;
  std::int64_t place = 0;
  Error lost = attempt([&]() -> Error {
    const Result<std::int64_t> taken =
        call.collective ? shared_->take_ordered(etypes) : shared_->take(etypes);
    if (!taken) return taken.error();
    place = taken.value();
    return {};
  });
  if (!lost) return place;
  if (!failed) failed = std::move(lost);
  call.count = 0;
  return 0;
}

Result<std::int64_t> OpenFile::shared_position() {
  if (mode_.sequential) return only_in_sequence(path_);
  return shared_->take(0);
}

Result<FileOffset> OpenFile::shared_byte_offset() {
  // All ranks come first, so that no earlier call of theirs moves the pointer afterwards.
  if (Error error = channel_->barrier()) return error;
  return shared_->found_by_first(kFindPointer, [this]() -> Result<std::int64_t> {
    const Result<std::int64_t> position = shared_->take(0);
    return position ? byte_offset(position.value()) : position;
  });
}

Error OpenFile::seek_shared(std::int64_t offset, Whence whence) {
  // All ranks opened with one mode, so none waits for one that returns here.
  if (mode_.sequential) return only_in_sequence(path_);
  drain_lane();
  GivenSeek given{fabric::Extremes::of(offset),
                  fabric::Extremes::of(static_cast<std::int64_t>(whence))};
  if (Error error = channel_->combine(given)) return error;
  const Action what{kSeekPointer, path_};
  if (!given.offset.are_same() || !given.whence.are_same()) {
    return {
        ErrorClass::not_same, 0,
        what.text() + " (offset or whence is not the same on all ranks), pass the same everywhere"};
  }
  const Result<std::int64_t> done =
      shared_->found_by_first(kSeekPointer, [&]() -> Result<std::int64_t> {
        Result<std::int64_t> base = std::int64_t{0};
        if (whence == Whence::current) base = shared_->take(0);
        if (whence == Whence::end) base = end_position();
        if (!base) return base;
        const Result<std::int64_t> target = pointer_.target(base.value(), offset);
        if (target) shared_->set(target.value());
        return target;
      });
  return done ? Error{} : done.error();
}

Error OpenFile::set_atomicity(bool atomic) {
  // Calls of each mode are looked at in their own way (HEADRACE_VERIFY), not at once.
  drain();
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
  collective_->set_atomic(atomic);
  is_atomic_ = atomic;
  return {};
}

}  // namespace headrace::file
