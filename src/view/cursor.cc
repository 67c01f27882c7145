#include "view/cursor.h"

#include <algorithm>
#include <utility>

namespace headrace::view {
namespace {

/// At most so many pieces of an irregular list are searched for a common stride. Bounds the work
/// that is lost if a run is cut short.
constexpr std::int64_t kLongestSearch = 256;

struct Regular {
  std::int64_t count;
  std::int64_t stride;
};

/// How many of `parts` pieces of `length` bytes `available` bytes hold; divides only if it must.
std::int64_t whole_pieces(ByteCount available, std::int64_t parts, ByteCount length) {
  ByteCount all = 0;
  const bool all_fit = !__builtin_mul_overflow(parts, length, &all) && all <= available;
  return all_fit ? parts : available / length;
}

/// How many parts of `node` from `first` on are equal pieces one stride apart: at least 1, at most
/// `available` >= `length` bytes.
Regular regular_parts(const Node& node, std::int64_t first, ByteCount length, ByteCount available) {
  const std::int64_t parts = node.count - first;
  if (node.kind == NodeKind::vector) return {whole_pieces(available, parts, length), node.stride};
  if (node.kind != NodeKind::blocks) return {1, 0};
  const std::int64_t most = whole_pieces(available, std::min(parts, kLongestSearch), length);
  if (most < 2) return {1, 0};
  const std::int64_t* offsets = node.offsets.data() + first;
  const std::int64_t stride = offsets[1] - offsets[0];
  std::int64_t count = 2;
  while (count < most && offsets[count] - offsets[count - 1] == stride) ++count;
  return {count, stride};
}

/// How many pieces of a run end at most `room` >= `length` bytes above the run's offset: all if the
/// stride is not positive.
std::int64_t pieces_below(Regular regular, ByteCount length, ByteCount room) {
  std::int64_t last = 0;
  const bool all_fit =
      !__builtin_mul_overflow(regular.count - 1, regular.stride, &last) && last <= room - length;
  return all_fit ? regular.count : (room - length) / regular.stride + 1;
}

/// The last part of a monotonic node that begins below `end`, 0 < end.
std::int64_t last_part_below(const Node& node, std::int64_t end) {
  if (node.count == 1) return 0;
  if (node.kind == NodeKind::vector) return std::min(node.count - 1, (end - 1) / node.stride);
  const auto& offsets = node.offsets;
  return std::lower_bound(offsets.begin(), offsets.end(), end) - offsets.begin() - 1;
}

}  // namespace

Cursor::Cursor(TypePtr type, std::int64_t origin, ByteCount data_limit)
    : type_(std::move(type)), origin_(origin), limit_(data_limit) {
  if (type_->size() == 0) {
    limit_ = 0;
    return;
  }
  if (type_->tiled()->depth > kInlineLevels) heap_levels_.resize(type_->tiled()->depth);
  seek(0);
}

void Cursor::seek(ByteCount position) {
  position_ = position;
  depth_ = 0;
  descend(type_->tiled().get(), origin_ + type_->layout().offset, position);
}

/// Makes the current piece the one that holds data position `position` of `node`, placed at `base`.
void Cursor::descend(const Node* node, std::int64_t base, ByteCount position) {
  while (node) {
    const std::int64_t part = node->part_at(position);
    level(depth_++) = {node, part, base};
    base += node->offset_of(part);
    position -= node->start_of(part);
    piece_length_ = node->size_of(part);
    node = node->loop_of(part);
  }
  piece_offset_ = base;
  within_ = position;
}

void Cursor::step_within_piece(ByteCount bytes) {
  position_ += bytes;
  within_ += bytes;
  if (within_ == piece_length_) step_over_parts(1);
}

/// Steps over `count` parts of the innermost loop, all of them pieces, and enters what follows.
void Cursor::step_over_parts(std::int64_t count) {
  Level* current = &level(depth_ - 1);
  current->index += count;
  while (current->index == current->node->count && depth_ > 1) {
    --depth_;
    current = &level(depth_ - 1);
    ++current->index;
  }
  const Node& node = *current->node;
  within_ = 0;
  piece_offset_ = current->base + node.offset_of(current->index);
  piece_length_ = node.size_of(current->index);
  if (const Node* inner = node.loop_of(current->index)) descend(inner, piece_offset_, 0);
}

/// Takes whole pieces of the innermost loop, at most `available` bytes, which hold at least one
/// piece.
template <bool kBounded>
void Cursor::take_whole_pieces(StridedRun& run, ByteCount available, ByteCount room) {
  const Level& innermost = level(depth_ - 1);
  Regular regular = regular_parts(*innermost.node, innermost.index, piece_length_, available);
  if (kBounded) regular.count = pieces_below(regular, piece_length_, room);
  run = {piece_offset_, piece_length_, regular.stride, regular.count};
  position_ += run.bytes();
  step_over_parts(run.count);
}

/// Lengthens a single piece, up to `available` bytes, by the pieces that begin where it ends.
void Cursor::join_following(StridedRun& run, ByteCount available) {
  while (run.length < available && peek() == run.offset + run.length) {
    const ByteCount more = std::min(piece_length_, available - run.length);
    run.length += more;
    step_within_piece(more);
  }
}

/// The next run of at most `limit` bytes, all of them less than `room` bytes above peek().
template <bool kBounded>
StridedRun Cursor::take(ByteCount limit, ByteCount room) {
  StridedRun run;  // the only thing returned, so that it is built in place
  const ByteCount available = std::min({limit, remaining(), room});
  if (available <= 0) return run;
  if (within_ == 0 && available >= piece_length_) {
    take_whole_pieces<kBounded>(run, std::min(limit, remaining()), room);
  } else {
    run = {peek(), std::min(available, piece_left()), 0, 1};
    step_within_piece(run.length);
  }
  if (run.count == 1) join_following(run, available);
  return run;
}

template StridedRun Cursor::take<false>(ByteCount limit, ByteCount room);

StridedRun Cursor::next_before(std::int64_t end_offset, ByteCount limit) {
  if (end_offset == kUnlimited || remaining() <= 0) return next(limit);
  return take<true>(limit, end_offset - peek());
}

PieceList Cursor::list_ahead() const {
  if (within_ != 0 || depth_ == 0) return {};
  const Level& innermost = level(depth_ - 1);
  const Node& node = *innermost.node;
  const std::int64_t* offsets = node.offsets.data() + innermost.index;
  const std::int64_t count = node.count - innermost.index;
  if (node.kind == NodeKind::pieces) {
    return {innermost.base, offsets, node.starts.data() + innermost.index, 0, count};
  }
  const bool is_irregular = node.kind == NodeKind::blocks && count > 2 &&
                            offsets[1] - offsets[0] != offsets[2] - offsets[1];
  if (!is_irregular) return {};
  return {innermost.base, offsets, nullptr, piece_length_, count};
}

void Cursor::skip_list(std::int64_t count, ByteCount bytes) {
  position_ += bytes;
  step_over_parts(count);
}

std::int64_t offset_of(const Type& type, std::int64_t origin, ByteCount data_position) {
  std::int64_t offset = origin + type.layout().offset;
  for (const Node* node = type.tiled().get(); node;) {
    const std::int64_t part = node->part_at(data_position);
    offset += node->offset_of(part);
    data_position -= node->start_of(part);
    node = node->loop_of(part);
  }
  return offset + data_position;
}

ByteCount data_below(const Type& type, std::int64_t origin, std::int64_t end_offset) {
  if (type.size() == 0) return 0;
  std::int64_t end = end_offset - origin - type.layout().offset;
  ByteCount below = 0;
  for (const Node* node = type.tiled().get();;) {
    if (end <= 0) return below;
    const std::int64_t part = last_part_below(*node, end);
    below += node->start_of(part);
    end -= node->offset_of(part);
    const Node* inner = node->loop_of(part);
    if (!inner) return below + std::min(end, node->size_of(part));
    node = inner;
  }
}

}  // namespace headrace::view
