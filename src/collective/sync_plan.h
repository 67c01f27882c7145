#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::collective {

/// Before which collective calls the ranks meet in a barrier (HEADRACE_COLL_SYNC).
struct SyncPlan {
  /// By the number of an operation: before each so-many-th call on a communicator; 0: never.
  std::vector<std::int64_t> every;
  /// One each: what cannot be used and is ignored, why, and what to write.
  std::vector<std::string> problems;

  bool is_empty() const;
};

/// `given`: what the user wrote between commas: "0", "none", "1" or "all", or an operation's name,
/// each but the first two with ":N" behind it where it is for each Nth call only. Later ones count
/// more. `operations`: their names, as collective::name_of writes them.
SyncPlan read_sync_plan(std::span<const std::string> given,
                        std::span<const std::string_view> operations);

}  // namespace headrace::collective
