#pragma once

#include <atomic>
#include <cstdint>

#include "abi/flavour/native.h"
#include "record/file_counts.h"
#include "record/image.h"

/// Files that the MPI library opened itself. Those of ours count for themselves (RecordedFile), and
/// are here only if events are kept (HEADRACE_TIMELINE).
namespace headrace::HEADRACE_FLAVOUR::recording {

struct NotedFile {
  record::FileCounts* counts = nullptr;  ///< null if it is one of ours
  std::int32_t name = record::kNoPeer;   ///< a note's number, as events have it
};

/// Whether there are any: only then are calls on files looked at.
extern constinit std::atomic<bool> has_noted_files;

/// MPI_File_open has succeeded; whether events are kept. What is noted.
NotedFile note_opened(MPI_File file, const char* name, bool keeps_events) noexcept;
/// MPI_File_close begins.
void note_closed(MPI_File file) noexcept;
/// Empty where it is none of these.
NotedFile find_noted_file(MPI_File file) noexcept;

/// A call on such a file has moved so much; it began then, in ticks, or `begin` is 0.
void count_passed_bytes(record::FileCounts& counts, bool writes, std::int64_t bytes,
                        std::int64_t begin) noexcept;

/// A call of the procedure on such a file has ended.
void count_passed_call(record::FileCounts& counts, const char* procedure, std::int64_t ticks);

}  // namespace headrace::HEADRACE_FLAVOUR::recording
