#include "steps/view_map.h"

#include <algorithm>

namespace headrace::steps {

ViewMap::ViewMap(const View& view, std::int64_t displacement)
    : displacement_(displacement),
      tiles_(expand(view.filetype)),
      unit_(std::max<std::int64_t>(1, expand(view.etype).size())),
      ascends_(tiles_.ascends()) {}

std::int64_t ViewMap::etypes_below(std::int64_t file_size) const {
  if (shows_nothing()) return 0;
  // Whole tiles whose bytes all lie below, then etype by etype.
  const std::int64_t extent = tiles_.extent();
  const std::int64_t size = tiles_.size();
  std::int64_t tiles = 0;
  const std::int64_t room = file_size - displacement_ - tiles_.map().highest();
  if (extent > 0 && room >= 0) tiles = room / extent + 1;
  std::int64_t etype = tiles * (size / unit_);
  while (offset_of(etype * unit_) < file_size) ++etype;
  return etype;
}

}  // namespace headrace::steps
