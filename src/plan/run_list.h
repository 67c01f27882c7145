#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "plan/coverage.h"
#include "view/cursor.h"

namespace headrace::plan {

using view::StridedRun;

/// How a list of runs was written down.
enum class RunForm : std::uint8_t { list, map };

/// A list of runs of a window, as it is sent between nodes: numbers of 7 bits a byte (LEB128). The
/// first two of each run are the gap before it and its length, in granules. Equally spaced
/// stretches are one run, so that the coverage of a regular view takes a few bytes. If a bitmap
/// with a bit for each granule is shorter than the list, it is sent instead.
struct RunList {
  RunForm form = RunForm::list;
  ByteCount bytes = 0;   ///< of all runs together
  std::size_t size = 0;  ///< bytes of the list
};

/// The most bytes that a list may take.
constexpr std::size_t run_list_room(ByteCount window_size, int granule_shift) {
  return static_cast<std::size_t>(Coverage::words_for(window_size, granule_shift)) * 8;
}

/// Writes what is covered of a window. `room`: aligned to 8, run_list_room() bytes.
RunList write_runs(const Coverage& covered, ByteCount window_size, int granule_shift,
                   std::span<std::byte> room);

/// Reads runs one by one, and detects input that is not a valid list.
class RunReader {
 public:
  /// `list`: aligned to 8 if it is a map.
  RunReader(RunForm form, std::span<const std::byte> list, ByteCount window_size,
            int granule_shift);

  /// Gives the next run; false at the end, and if the list is invalid.
  bool next(StridedRun& run);
  bool is_broken() const { return is_broken_; }

 private:
  bool number(std::int64_t& value);
  bool next_of_map(StridedRun& run);
  bool broken();

  RunForm form_;
  std::span<const std::byte> rest_;
  Coverage map_;
  ByteCount window_size_;
  std::int64_t granules_;
  int shift_;
  std::int64_t at_ = 0;  ///< where the last run ended, in granules; in bytes for a map
  bool is_broken_ = false;
};

/// Calls visit(StridedRun) for the part of a run below `end`: whole stretches, then the rest of
/// one.
template <class Visit>
void visit_below(const StridedRun& run, ByteCount end, Visit visit) {
  const auto end_of = [&run](std::int64_t i) { return run.offset + i * run.stride + run.length; };
  if (end_of(run.count - 1) <= end) return visit(run);
  StridedRun below = run;
  below.count = end_of(0) <= end ? (end - end_of(0)) / run.stride + 1 : 0;
  if (below.count > 0) visit(below);
  const ByteCount cut = run.offset + below.count * run.stride;
  if (cut < end) visit(StridedRun{cut, end - cut, 0, 1});
}

}  // namespace headrace::plan
