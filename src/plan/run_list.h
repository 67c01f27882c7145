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

/// Runs of a window as they travel between nodes: numbers of 7 bits a byte (LEB128), the first two
/// of each run being the gap before it and its length, in granules. Stretches that follow one
/// another at one distance are one run, so that what a regular view covers takes a few bytes. Where
/// a bit for each granule is shorter than the list, it is that.
struct RunList {
  RunForm form = RunForm::list;
  ByteCount bytes = 0;   ///< that all runs have together
  std::size_t size = 0;  ///< bytes that the list takes
};

/// Bytes that a list takes at most.
constexpr std::size_t run_list_room(ByteCount window_size, int granule_shift) {
  return static_cast<std::size_t>(Coverage::words_for(window_size, granule_shift)) * 8;
}

/// Writes down what is covered of a window. `room`: aligned to 8, run_list_room() bytes.
RunList write_runs(const Coverage& covered, ByteCount window_size, int granule_shift,
                   std::span<std::byte> room);

/// Reads runs one by one; what is not a list of runs of one window is found out.
class RunReader {
 public:
  /// `list`: aligned to 8 where it is a map.
  RunReader(RunForm form, std::span<const std::byte> list, ByteCount window_size,
            int granule_shift);

  /// The next run; false at the end, and where the list is broken.
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
  std::int64_t at_ = 0;  ///< where the run before ended, in granules; in bytes for a map
  bool is_broken_ = false;
};

/// Calls visit(StridedRun) for what lies below `end` of a run: whole stretches, and what is left of
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
