#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "profile/perf_ring.h"
#include "profile/sample_ring.h"
#include "record/change_log.h"
#include "record/thread_record.h"

namespace headrace::profile {

/// A part of the address space.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// In which region a thread was when, as rows of calls have it.
using RegionLog = record::ChangeLog<1024>;

/// A thread of which samples are taken. Signal handlers of the thread use what is atomic here, and
/// the ring; the rest belongs to the thread that unwinds. It is never destroyed: a signal may come
/// late.
struct SampledThread {
  SampleRing ring;
  std::atomic<bool> is_on = false;
  std::atomic<const record::ThreadRecord*> record = nullptr;  ///< null: it has not called MPI
  std::atomic<std::uintptr_t> stack_begin = 0;
  std::atomic<std::uintptr_t> stack_end = 0;
  std::atomic<std::uintptr_t> unknown_stack = 0;  ///< an address on a stack that is not that one
  std::atomic<bool> stack_may_go = false;         ///< it is the program's own: it may unmap a part
  std::atomic<std::int64_t> period = 0;           ///< ns

  pid_t id = 0;  ///< the system's; 0: it is free
  bool is_seen = false;
  std::shared_ptr<const RegionLog> regions;  ///< null: it has not called MPI
  PerfRing perf;                             ///< open: instead of signals
  bool has_timer = false;
  timer_t timer{};
  std::uint32_t place = record::kNone;  ///< in the image
  std::int64_t cpu = 0;                 ///< ns of its CPU clock when it was last looked at
};

/// The clock of the CPU time of any thread of this process.
clockid_t cpu_clock_of(pid_t thread);
/// Nanoseconds; -1 if there is no such thread.
std::int64_t cpu_time_of(pid_t thread);

/// As the system shows it, at most 15 bytes.
std::string name_of_thread(pid_t thread);
/// Whether the thread blocks the signal now.
bool blocks_signal(pid_t thread, int signal);
/// The mapping of memory that holds the address, by /proc/self/maps; empty if none does.
AddressRange mapping_of(std::uintptr_t address);

}  // namespace headrace::profile
