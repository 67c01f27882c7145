#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "record/node_images.h"
#include "record/one_thread.h"
#include "record/wait_bounds.h"
#include "record/wait_tables.h"

namespace headrace::record {

/// How long this rank waits in blocking collective calls for other ranks of its node, exactly: each
/// rank writes down when it entered its calls on a communicator, and reads what the others have
/// written, some calls later. Communicators whose ranks do not all lie on this node have no waits
/// here.
///
/// Only the first thread that makes such calls is followed: calls by several threads could be
/// counted in another order on another rank.
class CollectiveWaits {
 public:
  static constexpr int kNoLog = -1;

  /// Null if the image has no room.
  static std::unique_ptr<CollectiveWaits> make(ImageFile& image);

  /// For a communicator, at its first blocking collective call. `id`: of CommunicatorIds.
  /// `members`: its ranks, by their numbers in MPI_COMM_WORLD; `own`: this rank's place among them.
  /// `thread`: which calls. kNoLog if its waits cannot be known.
  int open(std::uint32_t thread, std::uint64_t id, std::span<const std::int32_t> members,
           int own) noexcept;
  /// The communicator is freed. Its entries stay for a while: other ranks may not have come so far.
  void close(int log, std::uint32_t thread) noexcept;

  /// A call has ended, which `row` counts.
  void add(int log, std::uint32_t thread, const MetCall& call, const Row& row) noexcept;

  /// No call comes after. Looks for what is missing for a moment.
  void finish() noexcept;
  /// Calls on communicators are no longer counted alike by all ranks: one has failed.
  void stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }

 private:
  struct Pending {
    MetCall call;
    const Row* row = nullptr;
  };
  struct Communicator {
    std::uint64_t id = 0;
    int own = 0;
    std::vector<std::int32_t> members;
    std::vector<const EntryLog*> logs;  ///< of each member; null if it is not found yet
    std::uint64_t calls = 0;
    std::uint64_t judged = 0;    ///< calls
    std::int64_t judged_at = 0;  ///< ticks
    bool has_all_logs = false;
    bool is_followed = true;
    int searches = 0;
    std::uint64_t freed = 0;  ///< as which of those that were freed; 0: not yet
    std::array<Pending, EntryLog::kKept> pending;
  };

  CollectiveWaits(ImageFile& image, EntryLogs& logs);
  std::size_t take_place();
  void find_logs(Communicator& communicator);
  void judge(Communicator& communicator, bool gives_up) noexcept;
  bool judge_next(Communicator& communicator, bool gives_up);

  EntryLogs& logs_;
  NodeImages images_;
  OneThread thread_;
  std::atomic<bool> is_stopped_ = false;
  std::array<std::unique_ptr<Communicator>, EntryLogs::kMost> communicators_;
  std::uint64_t frees_ = 0;
  std::vector<std::optional<Entry>> entries_;
  WaitTables tables_;
};

}  // namespace headrace::record
