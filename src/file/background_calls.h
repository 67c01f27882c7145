#pragma once

#include <memory>
#include <mutex>

#include "exchange/file_team.h"
#include "file/background.h"
#include "file/work_queue.h"

namespace headrace::file {

/// The calls of one open file that run in the background. The destructor waits for all of them.
/// Safe from several threads.
class BackgroundCalls {
 public:
  explicit BackgroundCalls(std::shared_ptr<exchange::FileTeam> team);
  ~BackgroundCalls() { wait_for_all(); }
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;

  const std::shared_ptr<exchange::FileTeam>& team() const { return team_; }
  /// The part that the calls share and keep alive.
  const std::shared_ptr<Background>& background() const { return background_; }

  /// The file's lane: the queue of calls in which ranks meet, since all ranks must meet in the
  /// order of their calls.
  std::shared_ptr<WorkQueue> lane();
  /// Waits until no such call is under way: afterwards this thread may meet the other ranks.
  void wait_for_meetings() { background_->meeting.wait_for_none(ranks_.waiter()); }
  /// The same for all calls but one: for a thread that is about to execute that one.
  void wait_for_other_meetings();
  /// Waits for all calls that were begun.
  void wait_for_all();

 private:
  const std::shared_ptr<exchange::FileTeam> team_;
  fabric::Team& ranks_;
  const std::shared_ptr<Background> background_ = std::make_shared<Background>();

  std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<WorkQueue> lane_;
};

}  // namespace headrace::file
