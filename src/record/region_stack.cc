#include "record/region_stack.h"

#include <algorithm>

namespace headrace::record {

/// What has passed since the last change is the innermost region's own.
void RegionStack::pass_time(std::int64_t now) noexcept {
  if (depth_ > 0) open_[depth_ - 1].item->own += std::max<std::int64_t>(now - mark_->since, 0);
  mark_->since = now;
}

void RegionStack::enter_innermost() noexcept {
  region_ = depth_ == 0 ? 0 : open_[depth_ - 1].item->note + 1;
  mark_->region = region_;
}

void RegionStack::begin(int id, RegionItem& item, std::int64_t now, std::int64_t entered) noexcept {
  if (depth_ == kMostDepth) {
    ++too_deep_;
    return;
  }
  pass_time(now);
  if (item.open++ == 0) item.since = now;
  item.entries += entered;
  open_[depth_++] = {id, &item};
  enter_innermost();
}

void RegionStack::leave(std::int64_t now) noexcept {
  RegionItem& item = *open_[--depth_].item;
  if (--item.open == 0) item.ticks += std::max<std::int64_t>(now - item.since, 0);
}

RegionStack::End RegionStack::end(int id, std::int64_t now) noexcept {
  if (too_deep_ > 0) {
    --too_deep_;
    return End::matched;
  }
  std::size_t place = depth_;
  while (place > 0 && open_[place - 1].id != id) --place;
  if (place == 0) {
    ++mark_->mismatched;
    return End::not_open;
  }
  const End how = place == depth_ ? End::matched : End::with_inner;
  if (how == End::with_inner) ++mark_->mismatched;
  pass_time(now);
  while (depth_ >= place) leave(now);
  enter_innermost();
  return how;
}

void RegionStack::end_all(std::int64_t now) noexcept {
  if (mark_ == nullptr) return;
  pass_time(now);
  while (depth_ > 0) leave(now);
  too_deep_ = 0;
  enter_innermost();
}

}  // namespace headrace::record
