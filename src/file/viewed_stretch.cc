#include "file/viewed_stretch.h"

namespace headrace::file {

ViewedStretch viewed_stretch_of(const View& view) {
  if (!view.filetype->is_contiguous()) return {};
  return {unit_of(view), view.displacement + view.filetype->true_lower_bound()};
}

void SharedStretch::set(const ViewedStretch& stretch) {
  const std::uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  unit_.store(stretch.unit, std::memory_order_release);
  begin_.store(stretch.begin, std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

}  // namespace headrace::file
