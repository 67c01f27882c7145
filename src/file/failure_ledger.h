#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "exchange/file_channel.h"
#include "file/background.h"

namespace headrace::file {

/// Which calls of a file failed, and what of that the program has been told: calls of this rank,
/// calls that nobody waited for, and writes of the node's other ranks. Safe from several threads.
class FailureLedger {
 public:
  /// Before any rank writes. The arguments must outlive it.
  FailureLedger(exchange::FileChannel& channel, const std::string& path,
                UnreportedFailures& unreported);

  /// Notes a call that failed; errno 0: its view shows no bytes. Only a write that the file system
  /// failed leaves data missing that others may count on. What the program is told of it.
  Error fail(Direction direction, int system_error) noexcept;
  /// Notes it alone.
  void note(Direction direction, int system_error) noexcept;
  /// Others may count on what a write lacks because its rank has no memory: `failed` says whether.
  void note_unwritten(Direction direction, const Error& failed) noexcept;

  /// A failed write that was begun by this rank, and that the program has not been told of.
  Error take_unreported() noexcept;
  /// A failed write of another rank of the node that this program has not been told of. Waits for
  /// nobody: failures on other nodes are told by close.
  Error take_others() noexcept;

  std::int64_t failed_calls() const;
  /// Failed writes of this rank.
  std::int64_t own_writes() const;
  /// Those, and the ones of other ranks that the program has been told of.
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
  std::int64_t others_reported_ = 0;  ///< writes of others on this node, told to the program
};

}  // namespace headrace::file
