#pragma once

#include <atomic>
#include <cstdint>

/// What is counted of one file on one rank. It lies in the recorder's image from the open on, so
/// that a kill loses the calls in flight at most; who counts need not know that.
namespace headrace::record {

/// Requests of one direction to the file system. They are judged by FileCounts::unit.
struct RequestCounts {
  std::int64_t requests;
  std::int64_t collective;  ///< in collective calls
  std::int64_t whole;       ///< of exactly a unit
  std::int64_t small;       ///< of less than a unit
  std::int64_t unaligned;   ///< that begin or end inside of a unit
  std::int64_t repeated;    ///< system calls for what an interrupted or short one had left
};

/// Of one rank. Times in ticks. Fields are added to from several threads, by add().
struct FileCounts {
  std::int64_t opens;
  std::int64_t read;        ///< bytes that the program asked for and got
  std::int64_t written;     ///< bytes that it gave and that were taken
  std::int64_t store_read;  ///< bytes that were moved in the file system for it; -1: not known
  std::int64_t store_written;
  std::int64_t reads;  ///< calls, collective ones included
  std::int64_t writes;
  std::int64_t collective_reads;
  std::int64_t collective_writes;
  RequestCounts read_requests;
  RequestCounts write_requests;
  std::int64_t gaps;       ///< between what was written of a collective buffer
  std::int64_t gap_bytes;  ///< in these
  std::int64_t unit;       ///< bytes: a stripe, or a block of the file system; 0: not known yet
  std::int64_t ticks;      ///< in all calls on the file, by whichever thread
  std::int64_t exchange;   ///< of collective calls, as are those below: telling each other
  std::int64_t wait;       ///< for other ranks
  std::int64_t copy;       ///< between the program's memory and buffers
  std::int64_t store;      ///< in the file system
  std::int64_t open;       ///< of `ticks`: in opening the file
  std::int64_t close;      ///< of `ticks`: in closing it
  std::int64_t meet;       ///< of `exchange`: agreeing on how a call goes
  std::int64_t send;       ///< of `exchange`: messages between nodes
  std::int64_t reading;    ///< of `store`: reading
};

inline void add(std::int64_t& count, std::int64_t more) {
  std::atomic_ref(count).fetch_add(more, std::memory_order_relaxed);
}

/// The counts of a file of that name, one set for each name; those of further files, for which
/// there is no room, together. Null if nothing is recorded. `is_passed_on`: the MPI library moves
/// its bytes, so what goes to storage is not known. They stay as long as the process.
FileCounts* counts_of_file(const char* name, bool is_passed_on) noexcept;

/// The note that names the file of such counts.
std::uint32_t name_of(const FileCounts& counts) noexcept;

}  // namespace headrace::record
