#include "ior/signature.h"

#include <algorithm>
#include <cstring>

#include "common/pattern.h"

namespace headrace::bench::ior {

Signature::Signature(const Parameters& parameters, int task, std::uint32_t stamp)
    : transfer_size_(static_cast<std::size_t>(parameters.transfer_size)),
      store_offset_(parameters.store_offset()) {
  const std::size_t count = (transfer_size_ + sizeof(Line) - 1) / sizeof(Line);
  if (store_offset_) {
    task_and_stamp_ = static_cast<std::uint64_t>(task) << 32 | stamp;
    lines_.resize(count);
    return;
  }
  task_and_stamp_ = static_cast<std::uint64_t>(stamp) << 32 | static_cast<std::uint32_t>(task);
  const std::uint64_t base = mix(task_and_stamp_);
  lines_.resize(count + window_count);
  for (std::size_t i = 0; i < word_count(); ++i) word(i) = base ^ mix(i);
}

void Signature::fill_offsets(std::int64_t offset) {
  for (std::size_t i = 0; i < word_count(); ++i) {
    word(i) = i % 2 == 0 ? task_and_stamp_ : static_cast<std::uint64_t>(offset) + 8 * i;
  }
}

std::span<const std::byte> Signature::transfer(std::int64_t number, std::int64_t offset) {
  std::size_t first = 0;
  if (store_offset_) {
    fill_offsets(offset);
  } else {
    first = mix(static_cast<std::uint64_t>(number)) % window_count;
  }
  return {reinterpret_cast<const std::byte*>(lines_.data() + first), transfer_size_};
}

std::int64_t Signature::mismatches(std::span<const std::byte> data, std::int64_t number,
                                   std::int64_t offset, std::int64_t& first) {
  const std::span<const std::byte> expected = transfer(number, offset);
  if (std::memcmp(data.data(), expected.data(), data.size()) == 0) return 0;
  std::int64_t count = 0;
  for (std::size_t i = data.size(); i-- > 0;) {
    if (data[i] == expected[i]) continue;
    ++count;
    first = static_cast<std::int64_t>(i);
  }
  return count;
}

}  // namespace headrace::bench::ior
