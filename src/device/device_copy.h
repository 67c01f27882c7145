#pragma once

#include <algorithm>

#include "device/staging.h"
#include "view/copy.h"

namespace headrace::device {

/// Like view::copy() up to `end_offset`, for data in a device's memory: `memory_cursor` walks one
/// stretch of as many bytes, so that its offsets are positions in the data. After a failure, which
/// `staging` keeps, it skips what is left without moving it or calling `visit`.
template <class Visit>
ByteCount copy(Direction direction, view::Window window, view::Cursor& file, FileOffset end_offset,
               Staging& staging, view::Cursor& memory_cursor, Visit&& visit) {
  const ByteCount below = view::data_below(*file.type(), file.origin(), end_offset);
  const ByteCount all =
      std::clamp<ByteCount>(below - file.position(), 0, memory_cursor.remaining());
  for (ByteCount done = 0; done < all;) {
    const ByteCount position = memory_cursor.position();
    const std::span<std::byte> host = staging.open(position, all - done);
    if (host.empty()) {
      file.seek(file.position() + all - done);
      memory_cursor.seek(position + all - done);
      break;
    }
    const ByteCount moved =
        view::copy(direction, window, file, end_offset, view::memory_at(host.data(), -position),
                   memory_cursor, static_cast<ByteCount>(host.size()), visit);
    staging.close(moved);
    done += moved;
  }
  return all;
}

}  // namespace headrace::device
