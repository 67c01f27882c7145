#include "common/buffer.h"

#include <optional>
#include <string>

#include "common/failure.h"

namespace headrace::bench {

Buffer::Buffer(std::size_t size, Place place) {
  constexpr std::size_t kPage = 4096;
  const bool begins_page = place == Place::page;
  memory_.resize(begins_page ? size + kPage : size);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  bytes_ = std::span(memory_).subspan(begins_page ? (kPage - address % kPage) % kPage : 0, size);
}

Buffer make_buffer(MPI_Comm communicator, std::int64_t size, Buffer::Place place) {
  std::optional<Buffer> buffer;
  agree_on_memory(communicator, "a buffer of " + std::to_string(size) + " bytes",
                  [&] { buffer.emplace(static_cast<std::size_t>(size), place); });
  return std::move(*buffer);
}

}  // namespace headrace::bench
