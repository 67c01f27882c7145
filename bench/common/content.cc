#include "common/content.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/pattern.h"

namespace headrace::bench {
namespace {

constexpr std::byte poisoned{0xa5};
constexpr std::int64_t chunk_size = 1 << 16;

std::span<std::byte> part(std::byte* memory, const Piece& piece) {
  return {memory + piece.memory_offset, static_cast<std::size_t>(piece.length)};
}

}  // namespace

OffsetContent::OffsetContent(std::int64_t seed) : salt_(mix(static_cast<std::uint64_t>(seed))) {}

void OffsetContent::fill(std::int64_t offset, std::span<std::byte> to) const {
  fill_by_offset(to, offset, salt_);
}

void Mismatch::add(std::int64_t offset) {
  ++wrong;
  first = std::min(first, offset);
}

void Mismatch::add(const Mismatch& other) {
  wrong += other.wrong;
  first = std::min(first, other.first);
}

void Mismatch::compare(std::int64_t offset, std::span<const std::byte> data,
                       std::span<const std::byte> expected) {
  if (std::memcmp(data.data(), expected.data(), data.size()) == 0) return;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] != expected[i]) add(offset + static_cast<std::int64_t>(i));
  }
}

Mismatch sum(const World& world, const Mismatch& mine) {
  Mismatch all;
  all.wrong = sum(world, mine.wrong);
  MPI_Allreduce(&mine.first, &all.first, 1, MPI_INT64_T, MPI_MIN, world.communicator);
  return all;
}

void fill(const Layout& layout, std::int64_t displacement, const Content& content,
          std::byte* memory) {
  PieceCursor pieces(layout.file, layout.memory);
  for (Piece piece = pieces.next(); piece.length > 0; piece = pieces.next()) {
    content.fill(displacement + piece.file_offset, part(memory, piece));
  }
}

void poison(std::span<std::byte> memory) {
  std::fill(memory.begin(), memory.end(), poisoned);
}

Mismatch check(const Layout& layout, std::int64_t displacement, const Content& content,
               std::span<std::byte> memory) {
  Mismatch result;
  std::array<std::byte, chunk_size> chunk;
  PieceCursor pieces(layout.file, layout.memory);
  for (Piece piece = pieces.next(INT64_MAX, chunk_size); piece.length > 0;
       piece = pieces.next(INT64_MAX, chunk_size)) {
    const std::span<std::byte> found = part(memory.data(), piece);
    const std::span<std::byte> expected = std::span(chunk).first(found.size());
    content.fill(displacement + piece.file_offset, expected);
    result.compare(displacement + piece.file_offset, found, expected);
    poison(found);
  }
  if (layout.memory_size == layout.bytes) return result;
  for (const std::byte byte : memory) {
    if (byte != poisoned) result.add(displacement + layout.start);
  }
  poison(memory);
  return result;
}

}  // namespace headrace::bench
