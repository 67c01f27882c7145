#pragma once

#include <memory>
#include <string>

#include "exchange/channel.h"
#include "exchange/team.h"

namespace headrace::count {

/// A team that remembers the channel it opened last, whose board tells the rounds posted there.
class CountedTeam : public exchange::Team {
 public:
  explicit CountedTeam(std::shared_ptr<exchange::Team> inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int node_count() const override { return inner_->node_count(); }
  bool may_stay() const override { return inner_->may_stay(); }
  exchange::Waiter waiter() const override { return inner_->waiter(); }
  const std::string& shared_memory() const override { return inner_->shared_memory(); }

  Result<std::unique_ptr<exchange::Channel>> open_channel() override {
    auto opened = inner_->open_channel();
    channel_ = opened ? opened.value().get() : nullptr;
    return opened;
  }

  /// Only while the file lives whose channel it is.
  exchange::Channel& channel() { return *channel_; }
  std::uint64_t posted() const {
    exchange::Board* const board = channel_ != nullptr ? channel_->board() : nullptr;
    return board != nullptr ? board->round() : 0;
  }

 private:
  std::shared_ptr<exchange::Team> inner_;
  exchange::Channel* channel_ = nullptr;
};

}  // namespace headrace::count
