#include "exchange/part_message.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/rounding.h"
#include "view/copy.h"

namespace headrace::exchange {
namespace {

const view::TypePtr& byte_type() {
  static const view::TypePtr* const byte = new view::TypePtr(view::make_basic(1));
  return *byte;
}

/// A cursor over contiguous bytes.
view::Cursor packed_cursor() {
  return {byte_type(), 0};
}

}  // namespace

void prepare_part_messages() {
  byte_type();
}

std::size_t write_request(const WindowMemory& window, const plan::Coverage& covered,
                          std::span<std::byte> room) {
  const plan::RunList list = plan::write_runs(covered, window.size, window.granule_shift,
                                              room.subspan(sizeof(PartHeader)));
  const PartHeader header{window.begin,
                          list.bytes,
                          static_cast<std::uint32_t>(list.size),
                          list.form,
                          static_cast<std::uint8_t>(window.granule_shift),
                          0};
  std::memcpy(room.data(), &header, sizeof header);
  return sizeof header + list.size;
}

std::size_t write_part(const WindowMemory& window, const plan::Coverage& covered,
                       std::span<std::byte> room) {
  const std::size_t size = write_request(window, covered, room);
  const Part part(window, room.first(size));
  part.move(Direction::read, window.begin + window.size, room.data() + size);
  return size + static_cast<std::size_t>(part.bytes());
}

std::span<const std::byte> split_part(std::span<const std::byte>& parts) {
  PartHeader header{};
  if (parts.size() >= sizeof header) std::memcpy(&header, parts.data(), sizeof header);
  const std::size_t rest = parts.size() - std::min(parts.size(), sizeof header);
  const std::size_t list = std::min<std::size_t>(rest, header.list_size);
  const auto bytes = static_cast<std::size_t>(std::max<ByteCount>(header.bytes, 0));
  const std::size_t size = parts.size() - rest + list + std::min(rest - list, bytes);
  const auto first = parts.first(size);
  const std::size_t next = round_up(size, kPartAlignment);
  parts = parts.subspan(next < parts.size() ? next : size);
  return first;
}

Part::Part(const WindowMemory& window, std::span<const std::byte> message) : window_(window) {
  if (message.size() < sizeof header_) return;
  assert(reinterpret_cast<std::uintptr_t>(message.data()) % kPartAlignment == 0);
  std::memcpy(&header_, message.data(), sizeof header_);
  message = message.subspan(sizeof header_);
  if (header_.begin != window.begin || header_.granule_shift != window.granule_shift ||
      header_.list_size > message.size() || header_.bytes < 0 || header_.bytes > window.size) {
    return;
  }
  list_ = message.first(header_.list_size);
  rest_ = message.subspan(header_.list_size);
  is_valid_ = true;
}

template <class Visit>
ByteCount Part::for_each_run(Direction direction, ByteCount end, std::byte* packed,
                             Visit visit) const {
  plan::RunReader runs(header_.form, list_, window_.size, window_.granule_shift);
  view::Cursor cursor = packed_cursor();
  ByteCount left = header_.bytes;
  ByteCount moved = 0;
  view::StridedRun run;
  while (runs.next(run)) {
    left -= run.bytes();
    if (left < 0) return -1;
    plan::visit_below(run, end, [&](const view::StridedRun& below) {
      view::copy_run(direction, {window_.base, 0}, below, packed, cursor);
      visit(below);
      moved += below.bytes();
    });
  }
  return runs.is_broken() || left != 0 ? -1 : moved;
}

bool Part::unpack(plan::Coverage& covered) const {
  // The cast is safe: Direction::write moves bytes to the window only.
  std::byte* const packed = const_cast<std::byte*>(rest_.data());
  return for_each_run(Direction::write, window_.size, packed, [&](const view::StridedRun& run) {
           covered.mark_strided(run.offset, run.length, run.stride, run.count);
         }) >= 0;
}

ByteCount Part::move(Direction direction, FileOffset end, std::byte* packed) const {
  return for_each_run(direction, end - window_.begin, packed, [](const view::StridedRun&) {});
}

}  // namespace headrace::exchange
