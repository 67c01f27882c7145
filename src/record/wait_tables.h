#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "record/image_file.h"
#include "record/wait_bounds.h"

namespace headrace::record {

/// What waits come to, in the image: by the rows of the calls, and by the ranks that were awaited.
/// One thread writes it.
class WaitTables {
 public:
  explicit WaitTables(ImageFile& image) : image_(image) {}

  /// A call that took `ticks`, recorded in `row` by a thread. False if recording was off then, or
  /// without room.
  bool count(std::uint32_t thread, const Row& row, std::int64_t ticks, const WaitBounds& wait);
  /// `rank`: in MPI_COMM_WORLD.
  void count_awaited(std::int32_t rank, Awaited kind, std::int64_t ticks);

 private:
  ImageFile& image_;
  ExtentHeader* items_ = nullptr;
  ExtentHeader* awaited_ = nullptr;
  const Row* last_row_ = nullptr;
  WaitItem* last_item_ = nullptr;
  std::unordered_map<const Row*, WaitItem*> by_row_;
  std::unordered_map<std::int64_t, AwaitedItem*> by_rank_;
};

}  // namespace headrace::record
