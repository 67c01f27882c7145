#include "record/image_text.h"

#include <algorithm>

#include "record/image_file.h"

namespace headrace::record {

ImageText::Placed ImageText::add(std::initializer_list<std::string_view> parts) noexcept {
  constexpr std::uint32_t kExtentBytes = 8 << 10;
  std::uint32_t size = 0;
  for (const std::string_view part : parts) size += static_cast<std::uint32_t>(part.size());
  if (!may_add(size)) return {};
  if (extent_ == nullptr || extent_->capacity - extent_->used < size) {
    ExtentHeader* const more = image_.try_take(kind_, 1, std::max(kExtentBytes, size));
    if (more == nullptr) return {};
    extent_ = more;
  }
  char* const begin = reinterpret_cast<char*>(extent_ + 1) + extent_->used;
  char* end = begin;
  for (const std::string_view part : parts) end = std::ranges::copy(part, end).out;
  extent_->used.fetch_add(size, std::memory_order_release);
  const std::uint64_t place = bytes_;
  bytes_ += size;
  return {begin, place};
}

}  // namespace headrace::record
