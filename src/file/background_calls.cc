#include "file/background_calls.h"

namespace headrace::file {

BackgroundCalls::BackgroundCalls(std::shared_ptr<exchange::FileTeam> team)
    : team_(std::move(team)), ranks_(team_->ranks()) {}

std::shared_ptr<WorkQueue> BackgroundCalls::lane() {
  const std::lock_guard lock(mutex_);
  if (!lane_) lane_ = std::make_shared<WorkQueue>(1);
  return lane_;
}

void BackgroundCalls::wait_for_other_meetings() {
  background_->meeting.wait_for_others(ranks_.waiter());
}

void BackgroundCalls::wait_for_all() {
  wait_for_meetings();
  background_->independent.wait_for_none(ranks_.waiter());
}

}  // namespace headrace::file
