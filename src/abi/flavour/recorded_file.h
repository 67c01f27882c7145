#pragma once

#include <atomic>

#include "abi/flavour/native.h"
#include "record/file_counts.h"

/// Files that the MPI library opened itself. Those of ours count for themselves (RecordedFile).
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Whether there are any: only then are calls on files looked at.
extern constinit std::atomic<bool> has_passed_files;

/// MPI_File_open has succeeded.
void note_opened(MPI_File file, const char* name) noexcept;
/// MPI_File_close begins.
void note_closed(MPI_File file) noexcept;
/// Null where it is none of these.
record::FileCounts* find_passed_file(MPI_File file) noexcept;

/// A call on such a file has moved so much; it began then, in ticks, or `begin` is 0.
void count_passed_bytes(record::FileCounts& counts, bool writes, std::int64_t bytes,
                        std::int64_t begin) noexcept;

/// A call of the procedure on such a file has ended.
void count_passed_call(record::FileCounts& counts, const char* procedure, std::int64_t ticks);

}  // namespace headrace::HEADRACE_FLAVOUR::recording
