#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_account.h"
#include "base/types.h"
#include "record/decision.h"

namespace headrace::record {

/// What happened to one file between open and close: bytes of all its ranks, by direction and path.
struct FileTotals {
  ByteCount written_directly = 0;
  ByteCount written_staged = 0;
  ByteCount read_directly = 0;
  ByteCount read_staged = 0;
  std::int64_t failed_calls = 0;
  ByteCount of_devices = 0;  ///< of all these, in memory of devices
};

/// Why writes were not verified.
enum class Unverified {
  independent,         ///< only collective writes are
  cannot_read,         ///< the file cannot be opened for reading
  cannot_tell_others,  ///< the call goes on by itself, so that it may send no messages
  lacks_memory,        ///< of the node, for what its ranks tell each other
};
inline constexpr std::size_t kUnverifiedReasons = 4;
const char* text_of(Unverified reason);

struct UnverifiedWrites {
  std::int64_t calls = 0;  ///< collective ones once; independent ones are not counted
  ByteCount bytes = 0;     ///< of all ranks
};

/// What HEADRACE_VERIFY found, by all ranks of a file.
struct Verified {
  std::int64_t nanoseconds = 0;           ///< of the rank that took longest
  std::int64_t transfer_nanoseconds = 0;  ///< of all calls that move data, without verifying
  ByteCount bytes_read_back = 0;
  ByteCount bytes_read_alone = 0;  ///< of these, by the rank that wrote them
  ByteCount bytes_contested = 0;   ///< that several ranks wrote in one call: not compared
  std::int64_t ranges_wrong = 0;
  std::array<UnverifiedWrites, kUnverifiedReasons> unverified{};  ///< by the numbers of Unverified
};

/// What a file was and why its collective calls took their paths.
struct FileRecord {
  std::string path;
  FileTotals totals;
  Decision write;  ///< without a choice where there was no collective write
  Decision read;
  std::string store_choices{};         ///< what the stores did of their own accord
  std::optional<Verified> verified{};  ///< where writes were
  MemoryPeaks memory{};                ///< the greatest of any rank, when it was closed
};

/// Adds a closed file. Called on the file's first rank. Thread-safe.
void add_file(const FileRecord& file);

/// A line on the memory of all files added so far; empty where there were none.
std::string memory_summary();

/// At most six lines on all files added so far; empty where there were none.
std::vector<std::string> summary();

/// Files are used after the job's record has been made, since sessions go on: their lines come when
/// the process ends, not with the record's.
void let_files_go_on() noexcept;
bool files_go_on() noexcept;

}  // namespace headrace::record
