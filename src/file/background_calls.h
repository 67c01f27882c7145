#pragma once

#include <memory>
#include <mutex>

#include "exchange/file_team.h"
#include "file/background.h"
#include "file/work_queue.h"

namespace headrace::file {

/// The calls of one open file that go on by themselves. Waits for all of them when it ends. Safe
/// from several threads.
class BackgroundCalls {
 public:
  explicit BackgroundCalls(std::shared_ptr<exchange::FileTeam> team);
  ~BackgroundCalls() { wait_for_all(); }
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;

  const std::shared_ptr<exchange::FileTeam>& team() const { return team_; }
  /// What the calls themselves hold.
  const std::shared_ptr<Background>& background() const { return background_; }

  /// The queue of calls in which ranks meet: all ranks must meet in the order of their calls.
  std::shared_ptr<WorkQueue> lane();
  /// Waits until the ranks have met in all that was begun: afterwards this thread may meet them.
  void wait_for_meetings() { background_->meeting.wait_for_none(ranks_.waiter()); }
  /// The same for all but one: for a thread that is to carry that one out.
  void wait_for_other_meetings();
  /// Waits for all that was begun.
  void wait_for_all();

 private:
  const std::shared_ptr<exchange::FileTeam> team_;
  fabric::Team& ranks_;
  const std::shared_ptr<Background> background_ = std::make_shared<Background>();

  std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<WorkQueue> lane_;
};

}  // namespace headrace::file
