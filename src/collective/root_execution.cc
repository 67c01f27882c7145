#include "collective/root_execution.h"

#include <algorithm>
#include <span>

namespace headrace::collective {
namespace {

/// Messages that a root has under way at a time, of parcels that are not small.
constexpr std::size_t kMost = 64;

}  // namespace

void RootExecution::begin() {
  is_begun_ = true;
  is_taking_ = false;
  turn_ = 0;
  taken_turn_ = 0;
  place_ = -1;
  filled_ = 0;
  taken_ = 0;
}

Result<bool> RootExecution::collect(const Step& step) {
  if (!is_begun_) {
    begin();
    if (Error error = take_own_node(step)) return error;
  }
  while (taken_turn_ < shape_.node_count) {
    if (!is_taking_) {
      if (Error error = receive_nodes(step)) return error;
      if (!transport_.has_at_most(0)) return false;
      is_taking_ = true;
    }
    const Result<bool> is_taken = take_nodes(step);
    if (!is_taken || !is_taken.value()) return is_taken;
    is_taking_ = false;
    filled_ = 0;
    taken_ = 0;
  }
  if (!transport_.has_at_most(0)) return false;
  is_begun_ = false;
  return true;
}

Error RootExecution::take_own_node(const Step& step) {
  const NodeMessage sizes(stage_, shape_.node_size, step.bytes);
  for (int i = 0; i < shape_.node_size; ++i) {
    const std::byte* const slot = at(step.from) + static_cast<std::size_t>(i) * step.bytes;
    mover_.take(shape_.rank_on_node(i), slot, sizes.small_bytes(i));
  }
  // What the root sends to itself is waited for before anything else is begun.
  const int own = shape_.node_rank;
  return sizes.is_small(own) ? Error() : mover_.receive(shape_.rank, sizes.bytes_of(own));
}

std::size_t RootExecution::expected_from(int node, const Step& step) {
  std::size_t small = 0;
  bool is_any = false;
  for (int place = shape_.begin_of(node); place < shape_.begin_of(node + 1); ++place) {
    const std::size_t bytes = mover_.parcels().bytes_from(shape_.rank_at(place));
    is_any |= bytes > 0;
    small += std::min(bytes, step.bytes);
  }
  return is_any ? NodeMessage::header(shape_.size_of(node)) + small : 0;
}

Error RootExecution::receive_nodes(const Step& step) {
  for (; turn_ < shape_.node_count; ++turn_) {
    const int node = node_in(turn_);
    const std::size_t bytes = node == shape_.node_index ? 0 : expected_from(node, step);
    if (bytes == 0) continue;
    if (filled_ + bytes > step.to_distance) return {};
    std::byte* const memory = at(step.to) + filled_;
    NodeMessage(memory, shape_.size_of(node), step.bytes).clear();
    if (Error error = transport_.receive(shape_.leader_of(node), {memory, bytes})) return error;
    filled_ += NodeMessage::align(bytes);
  }
  return {};
}

Result<bool> RootExecution::take_nodes(const Step& step) {
  for (; taken_turn_ < turn_; ++taken_turn_) {
    const int node = node_in(taken_turn_);
    const bool is_own = node == shape_.node_index;
    std::byte* const memory = is_own ? stage_ : at(step.to) + taken_;
    const NodeMessage message(memory, shape_.size_of(node), step.bytes);
    const Result<bool> is_taken = take_node(step, message, node);
    if (!is_taken || !is_taken.value()) return is_taken;
  }
  return true;
}

Result<bool> RootExecution::take_node(const Step& step, const NodeMessage& message, int node) {
  const bool is_own = node == shape_.node_index;
  const std::size_t bytes = is_own ? 0 : expected_from(node, step);
  if (!is_own && bytes == 0) return true;
  if (place_ < 0) offset_ = NodeMessage::header(message.ranks());
  for (place_ = std::max(place_, 0); place_ < message.ranks(); ++place_) {
    const int rank = shape_.rank_at(shape_.begin_of(node) + place_);
    if (message.is_small(place_)) {
      if (!is_own) take_small(message, bytes, rank);
    } else if (rank != shape_.rank) {
      if (!transport_.has_at_most(kMost - 1)) return false;
      if (Error error = mover_.receive(rank, message.bytes_of(place_))) return error;
    }
  }
  place_ = -1;
  taken_ += NodeMessage::align(bytes);
  return true;
}

/// `end`: of what was expected. A message that was larger has been cut there.
void RootExecution::take_small(const NodeMessage& message, std::size_t end, int rank) {
  const std::size_t bytes = message.small_bytes(place_);
  const std::size_t present = std::min(bytes, end - std::min(offset_, end));
  if (present < bytes) mover_.note_truncation();
  mover_.take(rank, message.memory() + offset_, present);
  offset_ += bytes;
}

Result<bool> RootExecution::deal(const Step& step) {
  if (!is_begun_) begin();
  for (; turn_ < shape_.node_count; ++turn_) {
    const Result<bool> is_dealt = deal_to(step, node_in(turn_));
    if (!is_dealt || !is_dealt.value()) return is_dealt;
    place_ = -1;
  }
  if (!transport_.has_at_most(0)) return false;
  is_begun_ = false;
  return true;
}

std::size_t RootExecution::bytes_to(int node, const Step& step) {
  std::size_t small = 0;
  bool is_any = false;
  for (int place = shape_.begin_of(node); place < shape_.begin_of(node + 1); ++place) {
    const std::size_t bytes = mover_.parcels().bytes_to(shape_.rank_at(place));
    is_any |= bytes > 0;
    if (bytes <= step.bytes) small += bytes;
  }
  return is_any ? NodeMessage::header(shape_.size_of(node)) + small : 0;
}

Result<bool> RootExecution::deal_to(const Step& step, int node) {
  if (place_ < 0 && node != shape_.node_index) {
    const std::size_t bytes = bytes_to(node, step);
    if (filled_ + bytes > step.to_distance) {
      if (!transport_.has_at_most(0)) return false;
      filled_ = 0;
    }
    if (bytes > 0) {
      if (Error error = send_node(step, node, bytes)) return error;
    }
  }
  for (place_ = std::max(place_, 0); place_ < shape_.size_of(node); ++place_) {
    const int rank = shape_.rank_at(shape_.begin_of(node) + place_);
    if (rank == shape_.rank || mover_.parcels().bytes_to(rank) <= step.bytes) continue;
    if (!transport_.has_at_most(kMost - 1)) return false;
    if (Error error = mover_.send(rank)) return error;
  }
  return true;
}

Error RootExecution::send_node(const Step& step, int node, std::size_t bytes) {
  NodeMessage message(at(step.to) + filled_, shape_.size_of(node), step.bytes);
  mover_.lay_out(shape_, node, message);
  filled_ += NodeMessage::align(bytes);
  return transport_.send(shape_.leader_of(node),
                         std::span<const std::byte>(message.memory(), bytes));
}

}  // namespace headrace::collective
