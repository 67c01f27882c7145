#include <memory>

#include "count/hot_loops.h"
#include "count/shapes.h"
#include "view/copy.h"

namespace headrace::count {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kPieces = 4'000;

/// Pieces of a file, and of memory.
struct Sides {
  view::TypePtr file;
  view::TypePtr memory;
  ByteCount bytes = 0;
  std::int64_t pieces = 0;
};

Sides strided(ByteCount piece, ByteCount memory_gap = 0) {
  return {view::make_resized(view::make_basic(piece), 0, 3 * piece),
          view::make_resized(view::make_basic(piece), 0, piece + memory_gap), kPieces * piece,
          kPieces};
}

Sides irregular_sides() {
  const Shape shape = irregular(800'000, 0, 2);
  return {shape.filetype, view::make_basic(1), shape.bytes, shape.filetype->piece_count()};
}

/// Moves all of it through one window and the reverse.
HotLoop copy_loop(const std::string& name, const Sides& sides, Direction direction) {
  const auto end = view::offset_of(*sides.file, 0, sides.bytes - 1) + 1;
  const auto memory_end = view::offset_of(*sides.memory, 0, sides.bytes - 1) + 1;
  const auto window = std::make_shared<Bytes>(static_cast<std::size_t>(end));
  const auto memory = std::make_shared<Bytes>(static_cast<std::size_t>(memory_end));
  return {"copy_" + name, "piece", sides.pieces, [=] {
            view::Cursor file_cursor(sides.file, 0);
            view::Cursor memory_cursor(sides.memory, 0, sides.bytes);
            view::copy(direction, {window->data(), 0}, file_cursor, end, memory->data(),
                       memory_cursor, sides.bytes);
          }};
}

HotLoop walk_loop(const std::string& name, const Sides& sides) {
  return {"walk_" + name, "piece", sides.pieces, [=] {
            view::Cursor file(sides.file, 0, sides.bytes);
            while (file.next(file.piece_left()).count > 0) {
            }
          }};
}

HotLoop visit_loop(const std::string& name, const Sides& sides) {
  return {"visit_" + name, "piece", sides.pieces, [=] {
            view::Cursor file(sides.file, 0);
            view::Cursor memory(sides.memory, 0, sides.bytes);
            ByteCount bytes = 0;
            const auto sum = [&](FileOffset, std::int64_t, ByteCount length) { bytes += length; };
            view::for_each_piece(file, memory, sides.bytes, sum);
            asm volatile("" : : "r"(bytes));
          }};
}

/// Rows of 64 bytes in planes of 32 rows: two loops.
Sides nested() {
  const std::int64_t sizes[] = {kPieces / 32, 64, 256};
  const std::int64_t subsizes[] = {kPieces / 32, 32, 64};
  const std::int64_t starts[] = {0, 16, 64};
  const view::TypePtr file =
      view::make_subarray(sizes, subsizes, starts, view::Order::row_major, view::make_basic(1));
  return {file, view::make_basic(1), file->size(), file->piece_count()};
}

}  // namespace

void add_view_loops(std::vector<HotLoop>& loops) {
  for (const auto& [name, sides] :
       {std::pair{"strided", strided(64)}, std::pair{"irregular", irregular_sides()},
        std::pair{"nested", nested()}}) {
    loops.push_back(walk_loop(name, sides));
    loops.push_back(visit_loop(name, sides));
  }
  for (const ByteCount piece : {1, 7, 8, 12, 16, 20, 32, 48, 64, 100, 256, 1'000}) {
    loops.push_back(copy_loop(std::to_string(piece) + "B", strided(piece), Direction::write));
  }
  loops.push_back(copy_loop("8B_read", strided(8), Direction::read));
  loops.push_back(copy_loop("64B_both_strided", strided(64, 5), Direction::write));
  loops.push_back(copy_loop("irregular", irregular_sides(), Direction::write));
  loops.push_back(copy_loop("irregular_read", irregular_sides(), Direction::read));
  loops.push_back(copy_loop("nested", nested(), Direction::write));
}

}  // namespace headrace::count
