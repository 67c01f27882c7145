#include "device/image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "device/staging.h"
#include "view/copy.h"
#include "view/wide.h"

namespace headrace::device {
namespace {

Error no_room(ByteCount bytes) {
  return {ErrorClass::no_memory, ENOMEM,
          "a call needs " + std::to_string(bytes) +
              " bytes of host memory to convert data of a device (so much is not left, or the "
              "datatype spans too much), read or write less at a time"};
}

}  // namespace

Result<std::unique_ptr<Image>> Image::make(const Place& place, std::byte* buffer,
                                           const view::TypePtr& type, std::int64_t count,
                                           ByteCount most) {
  std::unique_ptr<Image> image(new Image(place, buffer, type, count, most));
  if (!image->map()) return no_room(count * type->size());
  return Result<std::unique_ptr<Image>>(std::move(image));
}

/// Maps memory for the elements, which are evenly spaced in either direction.
bool Image::map() {
  const view::Wide last = view::Wide{count_ - 1} * type_->extent();
  const view::Wide low = std::min<view::Wide>(0, last) + type_->true_lower_bound();
  const view::Wide high = std::max<view::Wide>(0, last) + type_->true_upper_bound();
  if (!view::fits(low) || !view::fits(high)) return false;
  low_ = static_cast<std::int64_t>(low);
  mapped_len_ = static_cast<std::size_t>(high - low);
  void* const place = ::mmap(nullptr, mapped_len_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return false;
  mapped_ = static_cast<std::byte*>(place);
  counted_ = CountedMemory(MemoryUse::converted_whole, count_ * type_->size());
  return true;
}

Image::~Image() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_len_);
}

std::byte* Image::buffer() const {
  return view::memory_at(mapped_, -low_);
}

Error Image::load() {
  return move(Direction::write, count_ * type_->size());
}

Error Image::store(ByteCount bytes) {
  return move(Direction::read, bytes);
}

/// `direction`: that of the file, as in Staging.
Error Image::move(Direction direction, ByteCount bytes) {
  if (bytes == 0) return {};
  view::Cursor here(type_, 0, bytes);
  const auto staging = Staging::make(direction, place_, device_buffer_, here, most_);
  Staging& data = *staging;
  while (here.remaining() > 0) {
    const std::span<std::byte> host = data.open(here.position(), here.remaining());
    if (host.empty()) return data.failure();
    const std::int64_t len = std::ssize(host);
    view::PairReader reader({0, len, 0, 1}, here);
    while (reader.next()) {
      const view::PiecePairs& pairs = reader.pairs();
      for (std::int64_t i = 0; i < pairs.count; ++i) {
        std::byte* const packed = host.data() + pairs.file_offset + i * pairs.file_stride;
        std::byte* const placed =
            view::memory_at(buffer(), pairs.memory_offset + i * pairs.memory_stride);
        // Data to be written to the file goes to the image; data that was read comes from it.
        view::move_piece(direction == Direction::write ? Direction::read : Direction::write, packed,
                         placed, pairs.length);
      }
    }
    data.close(len);
  }
  data.flush();
  return data.failure();
}

}  // namespace headrace::device
