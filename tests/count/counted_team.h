#pragma once

#include <memory>
#include <string>

#include "exchange/file_channel.h"
#include "exchange/file_team.h"

namespace headrace::count {

/// A team that remembers the channel it opened last, whose board tells the rounds posted there.
class CountedTeam : public exchange::FileTeam {
 public:
  explicit CountedTeam(std::shared_ptr<exchange::FileTeam> inner) : inner_(std::move(inner)) {}

  fabric::Team& ranks() override { return inner_->ranks(); }

  Result<std::unique_ptr<exchange::FileChannel>> open_channel() override {
    auto opened = inner_->open_channel();
    channel_ = opened ? opened.value().get() : nullptr;
    return opened;
  }

  /// Only while the file lives whose channel it is.
  exchange::FileChannel& channel() { return *channel_; }
  std::uint64_t posted() const {
    return channel_ != nullptr && channel_->nodes().shares_node() ? channel_->board().round() : 0;
  }

 private:
  std::shared_ptr<exchange::FileTeam> inner_;
  exchange::FileChannel* channel_ = nullptr;
};

}  // namespace headrace::count
