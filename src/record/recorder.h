#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "record/access_table.h"
#include "record/collective_waits.h"
#include "record/communicator_ids.h"
#include "record/file_timeline.h"
#include "record/job_mark.h"
#include "record/job_record.h"
#include "record/message_waits.h"
#include "record/process_facts.h"
#include "record/thread_record.h"

/// The recorder of this process: one image, in which each thread that calls MPI has its tables.
namespace headrace::record {

/// One procedure, by the number of its entry.
struct Procedure {
  const char* name;  ///< C's, without _c
  CallClass call_class;
};

/// What is known when MPI runs.
struct RecorderStart {
  int rank = 0;
  int rank_count = 0;
  bool is_spawned = false;   ///< by MPI_Comm_spawn
  std::int64_t init_ns = 0;  ///< that MPI_Init took
  std::span<const Procedure> procedures;
  CallerOf caller_of = nullptr;
  Facts facts;  ///< of the job
};

/// Whether functions are to be traced, for which the image has room then.
bool wants_traces(const Settings& settings);

/// Begins to record. An error is told by the caller, and the program goes on without.
Error start_recorder(const RecorderStart& start);

/// MPI_Finalize begins, or MPI_Abort: writes down what is known at the end, once. Calls are
/// recorded on.
void mark_end(RankState state);

/// No call is recorded from now on. The image stays, mapped.
void stop_recorder();

/// The image, while there is one; else null.
ImageFile* image();
/// Files that the program uses without MPI; null if they are not recorded.
AccessTable* access_table();
/// Null if waits are not recorded; asked in each call.
extern constinit std::atomic<CollectiveWaits*> collective_waits_in_use;
extern constinit std::atomic<MessageWaits*> message_waits_in_use;
inline CollectiveWaits* collective_waits() {
  return collective_waits_in_use.load(std::memory_order_relaxed);
}
inline MessageWaits* message_waits() {
  return message_waits_in_use.load(std::memory_order_relaxed);
}
CommunicatorIds& communicator_ids();
/// Not in a forked child.
bool is_this_process();
/// Nanoseconds since MPI ran, whether this rank could record or not.
std::int64_t recorded_ns();
const JobMark& job_mark();
/// image_directories() as they were when MPI ran: the program may change its user, or its root.
const std::vector<std::string>& own_directories();
/// Where records go, best first: where the user wants them, as it was when MPI ran, and this
/// user's own directories on the node if they cannot be there.
const std::vector<RecordPlace>& record_places();

extern std::atomic<bool> is_recording;
extern constinit thread_local ThreadRecord* own_record;

/// Makes the tables of a thread, or takes over those of one that has ended. Null if it gets none.
ThreadRecord* make_own_record() noexcept;

/// A new thread's: the regions in which it is already.
void take_early_regions(ThreadRecord& thread, std::int64_t begin) noexcept;

/// Called in each thread when it gets its tables, and with null when it gives them back; or null.
/// What it does must bear a thread that ends.
using ThreadListener = void (*)(const ThreadRecord* own);
enum class Listener { sampling, tracing };
extern std::array<std::atomic<ThreadListener>, 2> thread_listeners;
inline void set_listener(Listener which, ThreadListener listener) {
  thread_listeners[static_cast<std::size_t>(which)] = listener;
}

/// Called by stop_recorder(), to write down what is counted elsewhere; or null.
extern std::atomic<void (*)() noexcept> before_end;

/// What keeps calls on files without MPI one by one; null if they are not kept.
extern constinit std::atomic<FileTimeline*> file_timeline;

/// The tables of this thread; null if nothing is recorded.
inline ThreadRecord* this_thread() {
  if (!is_recording.load(std::memory_order_relaxed)) return nullptr;
  return own_record != nullptr ? own_record : make_own_record();
}

/// The program makes a call, and this_thread() is null: counts it if there was no room for the
/// thread's tables.
void note_lost_call() noexcept;

/// A receive is complete, and nothing tells how many bytes have arrived.
void count_unsized() noexcept;

/// The note of a procedure.
std::uint32_t procedure_note(int entry);
/// That of the barrier before its calls (HEADRACE_COLL_SYNC): its name with "(sync)" behind it.
std::uint32_t sync_note(int entry);

/// Adds a note; kNone if there is no room or nothing is recorded.
std::uint32_t add_note(NoteKind kind, std::span<const std::string_view> fields) noexcept;

}  // namespace headrace::record
