#pragma once

#include <cstdint>
#include <cstdio>

#include "posix/descriptors.h"
#include "posix/stand_ins.h"
#include "record/clock.h"
#include "record/recorder.h"

/// What a stand-in does around the function for which it stands. Nothing of it changes what the
/// program sees, errno included.
namespace headrace::posix {

/// Whether calls are kept one by one (HEADRACE_TIMELINE).
inline bool keeps_events() noexcept {
  return record::file_timeline.load(std::memory_order_relaxed) != nullptr;
}

/// One call of the program's. The thread may leave it by cancellation or siglongjmp.
class Call {
 public:
  /// is_timed: whether its time is taken, which costs more than a call that moves a few bytes
  /// within a stream's buffer. It always is if calls are kept one by one.
  explicit Call(bool is_timed = true) noexcept {
    is_counted_ = is_counting.load(std::memory_order_relaxed) &&
                  record::is_recording.load(std::memory_order_relaxed) && may_be_own_process();
    if (is_counted_ && (is_timed || keeps_events())) begin_ = record::ticks();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Whether it is the program's, and there is a recorder.
  bool is_counted() const { return is_counted_; }
  bool is_timed() const { return begin_ != 0; }
  std::int64_t begin() const { return begin_; }

 private:
  bool is_counted_;
  std::int64_t begin_ = 0;
};

enum class Direction { read, write };

inline constexpr std::int64_t kAtPosition = -1;

/// A call has moved `bytes`, at `offset` or the descriptor's position.
void note_transfer(const Call& call, int descriptor, Direction direction, std::int64_t bytes,
                   std::int64_t offset) noexcept;

/// The position of a descriptor is `position` now, by lseek.
void note_seek(const Call& call, int descriptor, std::int64_t position) noexcept;

/// What a call does that neither reads nor writes, and what counts it, if anything does.
struct OtherKind {
  record::FileOperation operation;
  record::AccessLayer layer;
  std::int64_t record::AccessCounts::* count;
};

/// Such a call. `offset`: where in the file, or kAtPosition. Null counts: it is on no file.
void note_other(const Call& call, record::AccessCounts* counts, const OtherKind& kind,
                std::int64_t offset = kAtPosition) noexcept;

void note_mapped(record::AccessCounts& counts, std::int64_t bytes) noexcept;

/// The program made a ring of io_uring.
void note_ring() noexcept;

/// The counts of the descriptor's file; null if it is no file.
record::AccessCounts* counts_of(int descriptor, record::AccessLayer layer) noexcept;

/// Whether a call that moves at most so many bytes will do so within the stream's buffer.
bool stays_in_buffer(std::FILE* stream, Direction direction, std::size_t most) noexcept;

/// A function on a stream has moved `bytes` for the program.
void note_stream(const Call& call, std::FILE* stream, Direction direction,
                 std::int64_t bytes) noexcept;

/// Counts what functions that are not looked at have moved by a stream since the last call: its
/// position tells. Before it is closed or moved.
void settle_stream(std::FILE* stream) noexcept;
/// The stream begins anew from where it is.
void restart_stream(std::FILE* stream) noexcept;

}  // namespace headrace::posix
