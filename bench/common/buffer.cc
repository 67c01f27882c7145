#include "common/buffer.h"

#include <cstdint>

namespace headrace::bench {

Buffer::Buffer(std::size_t size, Place place) {
  constexpr std::size_t kPage = 4096;
  const bool begins_page = place == Place::page;
  memory_.resize(begins_page ? size + kPage : size);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  bytes_ = std::span(memory_).subspan(begins_page ? (kPage - address % kPage) % kPage : 0, size);
}

}  // namespace headrace::bench
