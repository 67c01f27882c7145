#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "exchange/file_channel.h"
#include "file/background.h"

namespace headrace::file {

/// Keeps which calls of a file failed, and which failures the program has been told: calls of this
/// rank, calls that nobody waited for, and writes of the node's other ranks. Safe from several
/// threads.
class FailureLedger {
 public:
  /// Make it before any rank writes. The arguments must outlive it.
  FailureLedger(exchange::FileChannel& channel, const std::string& path,
                UnreportedFailures& unreported);

  /// Notes a call that failed with errno `system_error` (0: its view shows no bytes), and returns
  /// the program's error. Only a write that failed in the file system counts as missing data that
  /// others may rely on.
  Error fail(Direction direction, int system_error) noexcept;
  /// Only notes the failure.
  void note(Direction direction, int system_error) noexcept;
  /// If `failed` is an error, notes a write that was not made for lack of memory, since others may
  /// rely on its data.
  void note_unwritten(Direction direction, const Error& failed) noexcept;

  /// Takes a failed write that this rank began in the background and that the program has not been
  /// told of.
  Error take_unreported() noexcept;
  /// Takes a failed write of another rank of the node that the program has not been told of. Does
  /// not wait; close() reports failures on other nodes.
  Error take_others() noexcept;

  std::int64_t failed_calls() const;
  /// How many writes of this rank failed.
  std::int64_t own_writes() const;
  /// The same, plus failed writes of other ranks that the program has been told of.
  std::int64_t known_writes() const;

 private:
  void note_write(int system_error) noexcept;

  exchange::FileChannel& channel_;
  const std::string& path_;
  UnreportedFailures& unreported_;
  const std::int64_t before_;  ///< the channel's count when the file was opened

  mutable std::mutex mutex_;  ///< guards what follows
  std::int64_t failed_calls_ = 0;
  std::int64_t own_writes_ = 0;
  std::int64_t others_reported_ =
      0;  ///< failed writes of others on this node that the program was told of
};

}  // namespace headrace::file
