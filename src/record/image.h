#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "record/access_counts.h"
#include "record/decision.h"
#include "record/file_counts.h"
#include "record/heat_counts.h"

/// What a rank's recorder keeps, as it lies in a file that is mapped from the start: whatever ends
/// the process leaves it there. Only programs of the same version read it (node_tables.h); what
/// users keep is the record that is made of it.
///
/// After the header come extents, one behind the other. Each has items of one kind, of one thread.
/// `used` grows after an item is complete, so what it counts can be read at any time.
namespace headrace::record {

inline constexpr std::array<char, 8> kImageMagic = {'H', 'R', 'I', 'M', 'A', 'G', 'E', '1'};
inline constexpr std::uint32_t kNone = 0xffffffff;

enum class RankState : std::uint32_t { running, finalized, exited, aborted };

struct ImageHeader {
  std::array<char, 8> magic;  ///< written last
  std::uint32_t header_size;
  std::uint32_t row_size;
  std::int32_t rank;  ///< in MPI_COMM_WORLD
  std::int32_t rank_count;
  std::int32_t process;
  std::uint32_t has_steady_counter;
  std::int64_t
      process_start;         ///< in clock ticks after boot, from /proc: with `process` it is unique
  std::int64_t start;        ///< when MPI ran, in ns since 1970
  std::int64_t init;         ///< ns that MPI_Init took
  std::int64_t begin_ticks;  ///< when MPI ran
  std::int64_t begin_ns;
  std::int64_t end_ticks;  ///< when MPI_Finalize began; 0 before
  std::int64_t end_ns;
  std::int64_t call_cost;  ///< picoseconds that recording one call takes, measured at the start
  std::int64_t cpu_user;   ///< ns, at the end
  std::int64_t cpu_system;
  std::int64_t peak_memory;
  std::atomic<std::uint32_t> state;           ///< RankState
  std::atomic<std::uint32_t> lost_calls;      ///< of threads that found no room for a table
  std::atomic<std::uint32_t> lost_decisions;  ///< that found no room
  std::atomic<std::uint32_t> unsized;         ///< receives of which nothing told the bytes
  std::atomic<std::uint64_t> size;            ///< bytes in use
  std::uint64_t capacity;
  std::uint64_t
      process_space;       ///< in which `process` is one's number: the inode of a PID namespace
  std::int64_t off_ticks;  ///< for which the program had recording off, but for what goes on
  std::int64_t off_since;  ///< in ticks, since when it is off; 0 if it is on
  ProcessIo io_begin;      ///< when MPI ran
  ProcessIo io_end;        ///< as last seen
  OtherCounts other;
  std::atomic<std::uint64_t> untraced;  ///< calls of traced functions that could not be
  std::uint64_t entry_logs;    ///< where EntryLogs lie, from the image's begin; 0 if there are none
  std::uint64_t message_logs;  ///< the same of MessageLogs
  std::int64_t matched;        ///< messages received of which it is known when they were sent
  std::int64_t early;          ///< of these, that were sent before their receive was posted
};

enum class ExtentKind : std::uint32_t {
  thread = 1,
  rows,
  frames,
  peers,
  files,
  notes,
  decisions,
  regions,
  accesses,
  access_names,
  sampled_threads,  ///< of the process, as the next two
  sampled_frames,
  samples,
  heat,           ///< of the process
  counters,       ///< of the process
  traced_frames,  ///< of one thread that calls traced functions; these have numbers of their own
  traced_calls,   ///< of the same
  timeline,
  events,
  file_timeline,  ///< of the process, as the next
  file_events,
  entry_logs,    ///< for other ranks of the node (entry_log.h)
  message_logs,  ///< the same (message_log.h)
  waits,
  awaited,          ///< of the process, as the next two
  plain_decisions,  ///< of code that signal handlers run, too
  plain_texts
};

struct ExtentHeader {
  ExtentKind kind;
  std::uint32_t thread;  ///< kNone: of the process
  std::uint32_t item_size;
  std::uint32_t capacity;  ///< items
  std::atomic<std::uint32_t> used;
  std::atomic<std::uint32_t> turn;  ///< of events: how often their memory was taken from others
  std::uint64_t next;               ///< bytes from this header to the next
};

/// Which region a thread is in. Times of regions are in ticks of the clock of recording, which
/// stands still while recording is off (record_switch.h).
struct RegionMark {
  std::uint32_t region;  ///< its note's number and 1; 0: in none
  std::uint32_t reserved;
  std::int64_t since;       ///< when time was last counted for it
  std::int64_t mismatched;  ///< ends without a begin, or before the end of an inner region
};

/// The last call that a thread has begun.
struct LastCall {
  std::int64_t begin;       ///< in ticks, while it goes on; 0: it has ended. Written last
  std::uint32_t procedure;  ///< a note's number; kNone: there was none
  std::uint32_t path;       ///< a frame of the same thread
};

/// Of one thread.
struct ThreadItem {
  std::int64_t last_ticks;  ///< the end of its last call
  std::int64_t calls;
  std::int64_t ticks;  ///< in all calls
  std::int64_t folded;
  std::int64_t unwinds;
  std::int64_t checks;
  std::int64_t wrong;
  RegionMark region;
  LastCall last;
};

inline constexpr int kBins = 7;

/// The calls of one procedure by one path on one shape of communicator in one region, by one
/// thread.
struct Row {
  std::uint32_t procedure;     ///< a note's number
  std::uint32_t path;          ///< a frame of the same thread
  std::uint32_t communicator;  ///< a note's number
  std::uint32_t region;        ///< a note's number and 1; 0: none
  std::int64_t sent;
  std::int64_t received;
  std::int64_t ticks;
  std::int64_t least;
  std::int64_t greatest;
  std::int64_t failed;
  std::array<std::int64_t, kBins> bins;
  std::int64_t calls;  ///< written last
};

/// How long the rank waited for others in those calls of a row of which that is known.
struct WaitItem {
  std::uint32_t procedure;  ///< this and the next three as the row has them
  std::uint32_t path;
  std::uint32_t communicator;
  std::uint32_t region;
  std::int64_t ticks;  ///< that these calls took
  std::int64_t least;  ///< of this, for ranks that the calls need
  std::int64_t most;   ///< of this, for whoever came last
  std::int64_t calls;  ///< written last
};

/// In what a rank was waited for: it came late to a collective call, to a send, or to a receive.
enum class Awaited : std::uint32_t { meeting, sender, receiver };

/// For how long it waited for one rank, which came last of those that calls needed.
struct AwaitedItem {
  std::int32_t rank;  ///< in MPI_COMM_WORLD
  Awaited kind;
  std::int64_t ticks;
  std::int64_t calls;  ///< written last
};

/// One frame of a call path.
struct Frame {
  std::uint32_t caller;  ///< a frame of the same thread
  std::uint32_t module;  ///< a note's number
  std::uint64_t offset;
  std::uint32_t function;  ///< a note's number, of frames that are no machine code
  std::uint32_t line;
};

/// Messages to one rank, by one thread.
struct Peer {
  std::int64_t rank;
  std::int64_t sent;
  std::int64_t messages;  ///< written last
};

/// One file of this rank.
struct FileItem {
  std::uint32_t name;  ///< a note's number
  std::uint32_t reserved;
  FileCounts counts;
};

/// One file of this rank at one layer.
struct AccessItem {
  AccessLayer layer;
  std::uint32_t name_size;   ///< bytes
  std::uint64_t name_place;  ///< within the bytes of all extents of names, in their order
  AccessCounts counts;
};

/// One region of one thread.
struct RegionItem {
  std::uint32_t note;  ///< its number
  std::uint32_t open;  ///< how often it is entered and not yet left
  std::int64_t since;  ///< when it was entered, if it is open
  std::int64_t own;    ///< ticks outside inner regions
  std::int64_t ticks;  ///< ticks in it and in its inner regions, but for the time since `since`
  std::int64_t entries;
};

/// One thread of which samples are taken; numbered from 0, in their order in the image.
struct SampledThread {
  std::array<char, 16> name;  ///< ends with a zero
  std::uint32_t source;       ///< SampleSource
  std::uint32_t caller;       ///< its number among the threads that call MPI; kNone
  std::int64_t period;        ///< ns between samples, as asked for
  std::int64_t samples;
  std::int64_t time;  ///< ns for which they count
  std::int64_t cpu;   ///< ns that it worked meanwhile
  std::int64_t lost;  ///< samples for which there was no room
  std::int64_t cut;   ///< samples whose path lacks its outer part
};

enum class SampleSource : std::uint32_t { perf, timer, wall };

/// The samples of one thread by one call path in one region. Paths of samples have frames of their
/// own, all threads together: extents of kind `sampled_frames`.
struct SampleItem {
  std::uint32_t path;
  std::uint32_t thread;  ///< place among the sampled threads
  std::uint32_t region;  ///< a note's number and 1; 0: none
  std::uint32_t reserved;
  std::int64_t time;   ///< ns for which they count
  std::int64_t count;  ///< written last
};

/// Counts of one event, over all threads.
struct CounterItem {
  std::array<char, 24> name;  ///< ends with a zero
  std::uint32_t error;        ///< 0: it is counted; else errno
  std::uint32_t reserved;
  std::int64_t count;
  std::int64_t enabled;  ///< ns that the threads worked
  std::int64_t running;  ///< ns of these with a counter
  std::int64_t wall;     ///< ns since counting began
};

/// Calls of one function by one path, in one region and thread. `ticks` and `own` may be below 0.
struct TracedCalls {
  std::uint32_t function;  ///< a note's number
  std::uint32_t path;      ///< a frame of the same thread
  std::uint32_t region;    ///< a note's number and 1; 0: none
  std::uint32_t reserved;
  std::int64_t ticks;  ///< of calls that are not within one of the same function
  std::int64_t own;    ///< ticks outside other traced functions and outside MPI
  std::int64_t mpi;    ///< ticks in MPI calls, outside other traced functions
  std::int64_t least;
  std::int64_t greatest;
  std::int64_t moved;  ///< bytes
  std::int64_t ended;  ///< calls whose end was seen; the above is theirs
  std::int64_t calls;  ///< that have begun
};

/// A call or region that goes on.
struct OpenEvent {
  std::int64_t begin;  ///< in ticks
  std::uint32_t note;  ///< of calls the procedure's, of regions theirs and 1
  std::uint32_t reserved;
};

inline constexpr std::size_t kMostOpenCalls = 8;
inline constexpr std::size_t kMostOpenRegions = 128;

/// The timeline of one thread, but for the events themselves.
struct TimelineItem {
  std::int64_t added;          ///< events, those that are gone included
  std::int64_t clock_error;    ///< ns by which the node's clock may be wrong; -1 if it is not known
  std::int64_t system_thread;  ///< the kernel's number of the thread that had it last
  std::atomic<std::uint32_t> open_calls;
  std::atomic<std::uint32_t> open_regions;
  std::array<OpenEvent, kMostOpenCalls> calls;
  std::array<OpenEvent, kMostOpenRegions> regions;
};

inline constexpr std::int32_t kNoPeer = -1;

/// A call that has returned, or a region that has ended. The last three numbers may come after it
/// is published.
struct Event {
  std::int64_t begin;          ///< in ticks
  std::int64_t ticks;          ///< that it took
  std::uint32_t procedure;     ///< a note's number; kNone: it is a region
  std::uint32_t communicator;  ///< a note's number
  std::uint32_t region;        ///< a note's number and 1; 0: none
  std::int32_t peer;           ///< in MPI_COMM_WORLD; kNoPeer, or -2 outside it. Of MPI-IO the file
                               ///< instead: its name's note
  std::int64_t sent;
  std::int64_t received;
};

/// What a call on a file without MPI does.
enum class FileOperation : std::uint8_t { open, close, read, write, seek, sync, map, truncate };
inline constexpr std::size_t kFileOperations = 8;

/// The timeline of such calls, of all threads of the rank, but for the events themselves.
struct FileTimelineItem {
  std::atomic<std::uint64_t> added;  ///< events, those that are gone included
};

/// One such call. Each has a place in a ring, which later ones take over.
struct FileEvent {
  static constexpr std::uint64_t kIsWritten = UINT64_MAX;

  std::uint64_t turn;        ///< how many have been added with it; 0: none is there; kIsWritten
  std::int64_t begin;        ///< in ticks
  std::int64_t ticks;        ///< that it took
  std::int64_t bytes;        ///< moved, or mapped
  std::int64_t offset;       ///< -1: none, or it is not known
  std::uint64_t name_place;  ///< of the file, as in AccessItem
  std::uint32_t region;      ///< a note's number and 1; 0: none
  std::uint32_t thread;      ///< kNone: it had not called MPI
  std::int32_t system_thread;
  std::uint16_t name_size;
  FileOperation operation;
  std::uint8_t is_on_stream;  ///< of C; else on a descriptor
};

/// One decision of this rank.
struct DecisionItem {
  std::uint32_t note;  ///< its number
  std::uint32_t reserved;
  std::int64_t ticks;  ///< when it was made
  DecisionCost cost;
};

/// One decision of code that signal handlers run, too: its subject, choice and reason lie one
/// behind the other within the bytes of all extents of texts, in their order.
struct PlainDecisionItem {
  std::uint64_t place;
  std::array<std::uint32_t, 3> sizes;  ///< bytes
  std::uint32_t reserved;
  std::int64_t ticks;  ///< when it was made first
  std::int64_t calls;  ///< how often
};

/// What is told once, with fields of text. Each kind is numbered by itself, from 0.
enum class NoteKind : std::uint16_t {
  procedure = 1,  ///< name, class
  module,         ///< file, build-id
  function,       ///< name, file
  communicator,   ///< kind, size, ranks on the node, name
  file,           ///< name
  decision,       ///< subject, choice, reason, alternatives
  setting,        ///< name, value, origin
  variable,       ///< name, value
  fact,           ///< of the rank and job: name, value
  region,         ///< id (empty: those that found no room), label
  traced,         ///< name, group, way, file and build-id of its module, offset, refusal
};

/// Its fields follow: for each its length in four bytes, and its bytes. `size` counts all, and the
/// next note begins at a multiple of 8.
struct NoteHeader {
  std::uint32_t size;
  NoteKind kind;
  std::uint16_t fields;
};

static_assert(sizeof(Row) == 128 && sizeof(Frame) == 24 && sizeof(Peer) == 24);
static_assert(sizeof(PlainDecisionItem) == 40);
static_assert(sizeof(WaitItem) == 48 && sizeof(AwaitedItem) == 24);
static_assert(sizeof(HeatTables) == kHeatLayers * kHeatPlaces * 16);
static_assert(sizeof(SampledThread) == 72 && sizeof(SampleItem) == 32);
static_assert(sizeof(CounterItem) == 64 && sizeof(TracedCalls) == 80);
static_assert(sizeof(Event) == 48 && sizeof(OpenEvent) == 16 && sizeof(FileEvent) == 64);
static_assert(sizeof(RegionItem) == 40 && sizeof(RegionMark) == 24);
static_assert(sizeof(ExtentHeader) == 32 && sizeof(NoteHeader) == 8);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::is_standard_layout_v<ImageHeader>);

}  // namespace headrace::record
