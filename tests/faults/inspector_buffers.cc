#include <algorithm>

#include "faults/inspector.h"

// What buffers (HEADRACE_IOBUF) change: a small call of one rank may leave its bytes to a later
// one, and a failure to write them, too. What a sync, close or change of size has told is settled.

namespace headrace::faults {
namespace {

bool is_shared(const Step& step) {
  return step.positioning == Positioning::shared;
}

/// Whether the step empties the buffers of the ranks that take part.
bool settles(const Step& step) {
  return step.kind == StepKind::set_size || step.kind == StepKind::preallocate ||
         step.kind == StepKind::set_atomicity ||
         (step.kind == StepKind::access && (step.is_collective || is_shared(step)));
}

std::uint8_t byte_at(const Bytes& file, FileOffset offset) {
  return offset < std::ssize(file) ? file[static_cast<std::size_t>(offset)] : std::uint8_t{0};
}

}  // namespace

void Inspector::note_behind(const Strikes& struck) {
  if (!buffers_) return;
  for (const Struck& one : struck) {
    if (errno_of(one.kind) == 0 || one.kind == Kind::eintr) continue;
    if (one.operation != Operation::write && one.operation != Operation::memory) continue;
    const ErrorClass error_class = system_failure(errno_of(one.kind), "").error_class;
    for (std::size_t rank = 0; rank < behind_.size(); ++rank) {
      const bool is_own = one.rank < 0 || one.rank == static_cast<int>(rank);
      if (is_own) behind_[rank].insert(error_class);
    }
    failed_with_.insert(error_class);
    may_have_failed_ = true;
  }
}

bool Inspector::may_be_behind(std::size_t rank, ErrorClass error_class) const {
  return behind_[rank].contains(error_class);
}

/// Whether bytes of the step may stay in buffers.
bool Inspector::is_held_back(const Step& step) const {
  return buffers_ && !step.is_collective && !is_shared(step) && !is_atomic_;
}

bool Inspector::may_be_there(FileOffset offset, const Bytes& now) const {
  return buffers_ && held_.may_be(offset, byte_at(now, offset));
}

/// Whether the file may have changed so by what was held back alone.
bool Inspector::may_become(const Bytes& now) const {
  if (!buffers_) return now == file_;
  const ByteCount size = std::ssize(now);
  if (size < std::ssize(file_)) return false;
  if (size > std::max(std::ssize(file_), held_.most_end())) return false;
  for (FileOffset offset = 0; offset < size; ++offset) {
    const bool is_same = byte_at(now, offset) == byte_at(file_, offset);
    if (!is_same && !may_be_there(offset, now)) return false;
  }
  return true;
}

/// A rank finds its own bytes; of other ranks' older or newer ones.
bool Inspector::may_read(const Got& got, std::size_t rank, FileOffset offset, std::uint8_t byte,
                         const Bytes& now) const {
  const std::optional<std::uint8_t> owed = held_.owed(static_cast<int>(rank), offset);
  if (owed && !got.error) return byte == *owed;
  return byte == byte_at(now, offset) || byte == byte_at(file_, offset) ||
         held_.may_be(offset, byte);
}

/// Whether a read may end there: how far the file reaches depends on whose bytes are in it.
bool Inspector::may_count(const Step& step, std::size_t rank, const Got& got) const {
  if (!buffers_ || step.is_write) return false;
  const ByteCount most_end = std::max(std::ssize(file_), held_.most_end());
  const ByteCount least_end = held_.least_end(static_cast<int>(rank));
  return got.bytes >= expected_bytes(step, rank, got.begin, least_end) &&
         got.bytes <= expected_bytes(step, rank, got.begin, most_end);
}

/// Bytes of an ordered call lie somewhere in the stretch of the view that all fill together.
void Inspector::hold_back_ordered(const Step& step, const std::vector<Got>& got) {
  if (got.empty() || got[0].begin < 0 || views_[0].shows_nothing()) return;
  ByteCount all = 0;
  for (const Part& part : step.parts) all += wanted_bytes(part);
  for (ByteCount i = 0; i < all; ++i) held_.doubt(views_[0].offset_of(got[0].begin + i));
}

void Inspector::hold_back_part(const Step& step, std::size_t rank, const Got& got,
                               const Strikes& struck) {
  const Memory& memory = given_[rank];
  const bool is_sure = got.is_unknown ? struck.empty() && behind_[rank].empty() : !got.error;
  for (ByteCount i = 0; i < std::ssize(memory.places); ++i) {
    const FileOffset offset = views_[rank].offset_of(got.begin + i);
    const auto place = static_cast<std::size_t>(memory.places[static_cast<std::size_t>(i)]);
    const std::uint8_t byte = memory.bytes[place];
    held_.give(static_cast<int>(rank), offset, byte);
    const bool is_counted = is_sure || (!got.is_unknown && i < got.bytes);
    if (is_held_back(step) && is_counted) held_.owe(static_cast<int>(rank), offset, byte);
  }
}

void Inspector::hold_back(const Step& step, const std::vector<Got>& got, const Strikes& struck) {
  if (is_shared(step) && step.is_collective) return hold_back_ordered(step, got);
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const bool has_place = got[rank].begin >= 0 && !views_[rank].shows_nothing();
    if (step.parts[rank].wrong || !has_place) continue;
    hold_back_part(step, rank, got[rank], struck);
  }
}

/// A call that empties buffers tells what they lose. One that nobody waited for may have done so.
void Inspector::lose_what_failed(const Step& step, const std::vector<Got>& got,
                                 const Strikes& struck) {
  if (!settles(step)) return;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const bool may_have_failed =
        got[rank].is_unknown && (!struck.empty() || !behind_[rank].empty());
    if (got[rank].error || may_have_failed) held_.lose(static_cast<int>(rank));
  }
}

/// Of a sync or close that all ranks have made: what was not told to be lost is there.
void Inspector::check_emptied(const std::vector<Got>& got, const Bytes& now) {
  if (!may_become(now)) problems_.add(place_ + ": the file changed");
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    if (got[rank].error) held_.lose(static_cast<int>(rank));
    const std::optional<FileOffset> missing = held_.missing(static_cast<int>(rank), now);
    if (missing) {
      report(rank, "byte " + std::to_string(*missing) +
                       " of the file, which it was told is written, is missing");
    }
    behind_[rank].clear();
  }
  held_.forget(now);
  file_ = now;
}

/// All ranks have emptied their buffers before the size changed.
void Inspector::check_held_size(const Step& step, const std::vector<Got>& got, const Bytes& now) {
  const bool failed =
      std::ranges::any_of(got, [](const Got& one) { return static_cast<bool>(one.error); });
  const ByteCount most_end = std::max(std::ssize(file_), held_.most_end());
  const bool shrinks = step.kind == StepKind::set_size && !failed;
  const ByteCount least = shrinks ? step.value : failed ? std::ssize(file_) : step.value;
  const ByteCount most = shrinks ? step.value : std::max<ByteCount>(most_end, step.value);
  bool is_right = std::ssize(now) >= least && std::ssize(now) <= most;
  for (FileOffset offset = 0; is_right && offset < std::ssize(now); ++offset) {
    is_right = byte_at(now, offset) == byte_at(file_, offset) || may_be_there(offset, now);
  }
  if (!is_right) problems_.add(place_ + " did not do what it returned");
  if (failed) return;
  for (std::size_t rank = 0; rank < got.size() && !shrinks; ++rank) {
    const std::optional<FileOffset> missing = held_.missing(static_cast<int>(rank), now);
    if (missing) report(rank, "byte " + std::to_string(*missing) + " of the file is missing");
  }
  held_.forget(now);
}

}  // namespace headrace::faults
