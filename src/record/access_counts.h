#pragma once

#include <array>
#include <atomic>
#include <cstdint>

/// What is counted of a file that the program uses without MPI.
namespace headrace::record {

enum class AccessLayer : std::uint32_t {
  posix,  ///< calls on descriptors
  stdio,  ///< calls on the streams of C
};
inline constexpr int kAccessLayers = 2;

inline constexpr int kAccessBins = 10;  ///< Darshan's (POSIX_SIZE_READ_0_100 and so on)

/// The bin of an access of so many bytes.
inline int access_bin_of(std::int64_t bytes) {
  constexpr std::int64_t kMost[] = {100,     1 << 10,  10 << 10,  100 << 10, 1 << 20,
                                    4 << 20, 10 << 20, 100 << 20, 1 << 30};
  int bin = 0;
  while (bin < kAccessBins - 1 && bytes > kMost[bin]) ++bin;
  return bin;
}

/// Calls of one direction. `last_end` and `furthest` are of layer posix only, as are `sequential`
/// and `consecutive`.
struct DirectionCounts {
  std::int64_t bytes;
  std::int64_t ticks;
  std::int64_t sequential;                     ///< began where the last one ended, or behind it
  std::int64_t consecutive;                    ///< of these, exactly there
  std::int64_t last_end;                       ///< where the last one ended; 0 before the first
  std::int64_t furthest;                       ///< where the furthest one ended
  std::array<std::int64_t, kAccessBins> bins;  ///< each call is in one
};

/// Of one rank. Fields are added to from several threads, and from signal handlers, without locks.
struct AccessCounts {
  DirectionCounts reads;
  DirectionCounts writes;
  std::int64_t opens;
  std::int64_t seeks;
  std::int64_t syncs;
  std::int64_t maps;
  std::int64_t mapped;       ///< bytes
  std::int64_t other_ticks;  ///< in calls that neither read nor write
  std::int64_t unaligned;
  std::int64_t block;    ///< bytes of the file system's block; 0: not known
  std::uint64_t device;  ///< of the file, with `inode`: which one it is; 0: not known
  std::uint64_t inode;
};

/// What the kernel counts for this process (/proc/self/io), whoever makes the calls. -1: not known.
struct ProcessIo {
  std::int64_t read;  ///< by system calls
  std::int64_t written;
  std::int64_t device_read;  ///< from storage
  std::int64_t device_written;
};

/// What the program did on descriptors that lead to no file.
struct OtherCounts {
  std::int64_t read;  ///< bytes
  std::int64_t written;
  std::int64_t rings;  ///< of io_uring
};

}  // namespace headrace::record
