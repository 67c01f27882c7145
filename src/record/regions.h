#pragma once

#include <atomic>
#include <cstdint>

/// What the program says of itself: its regions, and when it wants to be recorded. All may be
/// called at any time, from any thread, whether anything is recorded or not.
namespace headrace::record {

enum class RegionCall : int {
  noted = 1,
  unrecorded = 0,  ///< nothing is recorded in this process, or MPI has ended
  refused = -1     ///< the call is wrong, and told once
};

/// This thread enters the region `id`, not negative. Its first label is kept, at most 80 bytes of
/// it; null: the region has its number alone. Before MPI runs it is remembered: then the region
/// begins as MPI runs.
RegionCall begin_region(int id, const char* label) noexcept;

/// Called in each thread that has entered or left a region, with what rows of calls have of the one
/// that it is in now; or null.
using RegionListener = void (*)(std::uint32_t region);
extern std::atomic<RegionListener> region_listener;

/// This thread leaves the region, and those that it entered since.
RegionCall end_region(int id) noexcept;

/// Writes down what is otherwise known at the end only, so that whoever reads the image finds it.
/// False if nothing is recorded.
bool flush_record() noexcept;

}  // namespace headrace::record
