#include "file/file_positions.h"

#include "file/agreement.h"

namespace headrace::file {
namespace {

/// The arguments that must be the same on all ranks.
struct GivenSeek {
  fabric::Extremes offset;
  fabric::Extremes whence;

  void combine(const GivenSeek& other) {
    offset.combine(other.offset);
    whence.combine(other.whence);
  }
};

// What a call tries to do, for messages.
constexpr const char* kFindPointer = "find the shared pointer of";
constexpr const char* kSeekPointer = "seek by the shared pointer of";

}  // namespace

Error FilePositions::seek(std::int64_t offset, Whence whence) {
  if (is_sequential_) return only_in_sequence(path_);
  Result<std::int64_t> end = std::int64_t{0};
  if (whence == Whence::end) end = end_position();
  return end ? pointer_.seek(offset, whence, end.value()) : end.error();
}

/// The first position, in etypes, whose bytes lie at or behind the end of the file.
Result<std::int64_t> FilePositions::end_position() {
  const Result<ByteCount> size = store_.size();
  return size ? pointer_.end_position(size.value()) : size.error();
}

Result<std::int64_t> FilePositions::individual() const {
  if (!is_sequential_) return pointer_.position();
  return Error{ErrorClass::unsupported_operation, 0,
               "'" + path_ +
                   "' has no individual file pointer (it was opened with MPI_MODE_SEQUENTIAL), use "
                   "shared or ordered access"};
}

Result<FileOffset> FilePositions::byte_offset(std::int64_t offset) const {
  return pointer_.byte_offset(offset);
}

std::int64_t FilePositions::take_shared(TransferCall& call, ByteCount unit, Error& failed) {
  if (failed && !call.collective) return 0;
  if (call.collective) calls_.wait_for_meetings();
  const std::int64_t etypes = call.count * call.type->size() / unit;
  std::int64_t place = 0;
  Error lost = attempt([&]() -> Error {
    const Result<std::int64_t> taken =
        call.collective ? shared_.take_ordered(etypes) : shared_.take(etypes);
    if (!taken) return taken.error();
    place = taken.value();
    return {};
  });
  if (!lost) return place;
  if (!failed) failed = std::move(lost);
  call.count = 0;
  return 0;
}

Result<std::int64_t> FilePositions::shared() {
  if (is_sequential_) return only_in_sequence(path_);
  return shared_.take(0);
}

Result<FileOffset> FilePositions::shared_byte_offset() {
  // All ranks meet first, so that none of their earlier calls moves the pointer afterwards.
  if (Error error = channel_.barrier()) return error;
  return shared_.found_by_first(kFindPointer, [this]() -> Result<std::int64_t> {
    const Result<std::int64_t> position = shared_.take(0);
    return position ? byte_offset(position.value()) : position;
  });
}

Error FilePositions::seek_shared(std::int64_t offset, Whence whence) {
  // All ranks opened in the same mode, so all return here.
  if (is_sequential_) return only_in_sequence(path_);
  calls_.wait_for_meetings();
  GivenSeek given{fabric::Extremes::of(offset),
                  fabric::Extremes::of(static_cast<std::int64_t>(whence))};
  if (Error error = channel_.combine(given)) return error;
  const Action what{kSeekPointer, path_};
  if (!given.offset.are_same() || !given.whence.are_same()) {
    return {
        ErrorClass::not_same, 0,
        what.text() + " (offset or whence is not the same on all ranks), pass the same everywhere"};
  }
  const Result<std::int64_t> done =
      shared_.found_by_first(kSeekPointer, [&]() -> Result<std::int64_t> {
        Result<std::int64_t> base = std::int64_t{0};
        if (whence == Whence::current) base = shared_.take(0);
        if (whence == Whence::end) base = end_position();
        if (!base) return base;
        const Result<std::int64_t> target = pointer_.target(base.value(), offset);
        if (target) shared_.set(target.value());
        return target;
      });
  return done ? Error{} : done.error();
}

}  // namespace headrace::file
