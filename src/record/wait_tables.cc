#include "record/wait_tables.h"

#include "record/extent_items.h"

namespace headrace::record {
namespace {

constexpr std::uint32_t kItemsAtATime = 16;

}  // namespace

bool WaitTables::count(std::uint32_t thread, const Row& row, std::int64_t ticks,
                       const WaitBounds& wait) {
  if (row.procedure == kNone) return false;
  if (&row != last_row_) {
    WaitItem*& item = by_row_[&row];
    if (item == nullptr) {
      item = take_item<WaitItem>(image_, items_, ExtentKind::waits, thread, kItemsAtATime);
      if (item == nullptr) return false;
      new (item) WaitItem{row.procedure, row.path, row.communicator, row.region, 0, 0, 0, 0};
      publish(items_);
    }
    last_row_ = &row;
    last_item_ = item;
  }
  last_item_->ticks += ticks;
  last_item_->least += wait.least;
  last_item_->most += wait.most;
  last_item_->calls += 1;
  return true;
}

void WaitTables::count_awaited(std::int32_t rank, Awaited kind, std::int64_t ticks) {
  AwaitedItem*& item = by_rank_[std::int64_t{rank} * 4 + static_cast<std::int64_t>(kind)];
  if (item == nullptr) {
    item = take_item<AwaitedItem>(image_, awaited_, ExtentKind::awaited, kNone, kItemsAtATime);
    if (item == nullptr) return;
    new (item) AwaitedItem{rank, kind, 0, 0};
    publish(awaited_);
  }
  item->ticks += ticks;
  item->calls += 1;
}

}  // namespace headrace::record
