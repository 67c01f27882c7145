#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace headrace::record {

/// What happened to one file between open and close: bytes of all its ranks, by direction and path.
struct FileTotals {
  ByteCount written_directly = 0;
  ByteCount written_staged = 0;
  ByteCount read_directly = 0;
  ByteCount read_staged = 0;
  std::int64_t failed_calls = 0;
};

/// What a file was and why its collective calls took their paths.
struct FileRecord {
  std::string path;
  FileTotals totals;
  std::string write_reason;  ///< empty where there was no collective write
  std::string read_reason;
};

/// Adds a closed file. Called on the file's first rank. Thread-safe.
void add_file(const FileRecord& file);

/// At most five lines on all files added so far; empty where there were none.
std::vector<std::string> summary();

}  // namespace headrace::record
