#include "collective/parcel_execution.h"

#include <cstring>
#include <span>
#include <utility>

namespace headrace::collective {
namespace {

/// Messages that a root has under way at a time.
constexpr std::size_t kMostOfRoot = 64;

}  // namespace

Result<bool> ParcelExecution::advance(const Step& step) {
  const auto done = [](Error error) -> Result<bool> {
    if (error) return error;
    return true;
  };
  switch (step.action) {
    case ParcelAction::put: put(step); return true;
    case ParcelAction::announce: announce(step); return true;
    case ParcelAction::lay_out: lay_out(step); return true;
    case ParcelAction::take: take(step); return true;
    case ParcelAction::send_node: return done(send_node(step));
    case ParcelAction::receive_node: return done(receive_node(step));
    case ParcelAction::send_own: return done(send_own(step));
    case ParcelAction::receive_own: return done(receive_own(step));
    case ParcelAction::collect: return visit_nodes(step, Way::from);
    case ParcelAction::deal: return visit_nodes(step, Way::to);
    case ParcelAction::put_row: put_row(step); return true;
    case ParcelAction::take_column: take_column(step); return true;
    case ParcelAction::exchange: return exchange(step);
  }
  return true;
}

void ParcelExecution::put(const Step& step) {
  const std::size_t bytes = small_bytes(Way::to, step.peer, step);
  const auto own = static_cast<std::size_t>(shape_.node_rank);
  told_sizes()[own] = bytes;
  if (bytes > 0) parcels_->pack(step.peer, at(step.to) + own * step.bytes);
}

void ParcelExecution::announce(const Step& step) {
  told_sizes()[shape_.node_rank] = small_bytes(Way::from, step.peer, step);
}

void ParcelExecution::lay_out(const Step& step) {
  std::byte* to = at(step.to);
  for (int i = 0; i < shape_.node_size; ++i) {
    const int rank = shape_.rank_on_node(i);
    const std::size_t bytes = small_bytes(Way::to, rank, step);
    if (bytes > 0) parcels_->pack(rank, to);
    to += bytes;
  }
}

void ParcelExecution::take(const Step& step) {
  const std::size_t bytes = told_sizes()[shape_.node_rank];
  const std::byte* from = at(step.from);
  for (int i = 0; i < shape_.node_rank; ++i) from += told_sizes()[i];
  if (bytes > 0) parcels_->unpack(step.peer, from);
}

Error ParcelExecution::send_node(const Step& step) {
  std::byte* const begin = at(step.to);
  std::byte* end = begin;
  for (int i = 0; i < shape_.node_size; ++i) {
    const std::size_t bytes = told_sizes()[i];
    const std::byte* const slot = at(step.from) + static_cast<std::size_t>(i) * step.bytes;
    if (bytes > 0) std::memcpy(end, slot, bytes);
    end += bytes;
  }
  return end == begin ? Error()
                      : transport_.send(step.peer, std::span<const std::byte>(begin, end));
}

Error ParcelExecution::receive_node(const Step& step) {
  std::size_t bytes = 0;
  for (int i = 0; i < shape_.node_size; ++i) bytes += told_sizes()[i];
  if (bytes == 0) return {};
  return transport_.receive(step.peer, std::span<std::byte>(at(step.to), bytes));
}

Error ParcelExecution::send_own(const Step& step) {
  return parcels_->bytes_to(step.peer) > step.bytes ? move_one(Way::to, step.peer) : Error();
}

Error ParcelExecution::receive_own(const Step& step) {
  return parcels_->bytes_from(step.peer) > step.bytes ? move_one(Way::from, step.peer) : Error();
}

Error ParcelExecution::move_one(Way way, int rank) {
  return way == Way::to ? transport_.send_parcel(rank, parcels_->to(rank))
                        : transport_.receive_parcel(rank, parcels_->from(rank));
}

std::size_t ParcelExecution::node_bytes(Way way, int node, const Step& step) {
  std::size_t bytes = 0;
  for (int place = shape_.begin_of(node); place < shape_.begin_of(node + 1); ++place) {
    bytes += small_bytes(way, shape_.rank_at(place), step);
  }
  return bytes;
}

Result<bool> ParcelExecution::visit_nodes(const Step& step, Way way) {
  if (!is_begun_) {
    is_begun_ = true;
    turn_ = 0;
    place_ = -1;
    first_turn_ = 0;
    filled_ = 0;
    if (way == Way::from) {
      if (Error error = begin_collecting(step)) return error;
    }
  }
  for (; turn_ < shape_.node_count; ++turn_) {
    const Result<bool> is_done = visit(step, way, node_in(turn_));
    if (!is_done || !is_done.value()) return is_done;
    place_ = -1;
  }
  const Result<bool> is_complete = transport_.has_at_most(0);
  if (!is_complete || !is_complete.value()) return is_complete;
  if (way == Way::from) unpack_nodes(step);
  is_begun_ = false;
  return true;
}

/// What lies in the stage already, and what the root has sent to itself: that is waited for before
/// other messages have come.
Error ParcelExecution::begin_collecting(const Step& step) {
  for (int i = 0; i < shape_.node_size; ++i) {
    const int rank = shape_.rank_on_node(i);
    const std::byte* const slot = at(step.from) + static_cast<std::size_t>(i) * step.bytes;
    if (small_bytes(Way::from, rank, step) > 0) parcels_->unpack(rank, slot);
  }
  return receive_own(step);
}

Result<bool> ParcelExecution::visit(const Step& step, Way way, int node) {
  if (place_ < 0 && node != shape_.node_index) {
    const std::size_t bytes = node_bytes(way, node, step);
    if (bytes > 0 && filled_ + bytes > step.to_distance) {
      const Result<bool> is_empty = transport_.has_at_most(0);
      if (!is_empty || !is_empty.value()) return is_empty;
      if (way == Way::from) unpack_nodes(step);
      filled_ = 0;
    }
    if (bytes > 0) {
      if (Error error = move_node(step, way, node, bytes)) return error;
    }
  }
  if (place_ < 0) place_ = shape_.begin_of(node);
  for (; place_ < shape_.begin_of(node + 1); ++place_) {
    const int rank = shape_.rank_at(place_);
    if (rank == shape_.rank || bytes_of(way, rank) <= step.bytes) continue;
    const Result<bool> has_room = transport_.has_at_most(kMostOfRoot - 1);
    if (!has_room || !has_room.value()) return has_room;
    if (Error error = move_one(way, rank)) return error;
  }
  return true;
}

Error ParcelExecution::move_node(const Step& step, Way way, int node, std::size_t bytes) {
  std::byte* const begin = at(step.to) + filled_;
  filled_ += bytes;
  const int leader = shape_.leader_of(node);
  if (way == Way::from) return transport_.receive(leader, std::span<std::byte>(begin, bytes));
  std::byte* to = begin;
  for (int place = shape_.begin_of(node); place < shape_.begin_of(node + 1); ++place) {
    const int rank = shape_.rank_at(place);
    const std::size_t small = small_bytes(way, rank, step);
    if (small > 0) parcels_->pack(rank, to);
    to += small;
  }
  return transport_.send(leader, std::span<const std::byte>(begin, bytes));
}

void ParcelExecution::unpack_nodes(const Step& step) {
  const std::byte* from = at(step.to);
  for (; first_turn_ < turn_; ++first_turn_) {
    const int node = node_in(first_turn_);
    if (node == shape_.node_index) continue;
    for (int place = shape_.begin_of(node); place < shape_.begin_of(node + 1); ++place) {
      const int rank = shape_.rank_at(place);
      const std::size_t bytes = small_bytes(Way::from, rank, step);
      if (bytes > 0) parcels_->unpack(rank, from);
      from += bytes;
    }
  }
}

void ParcelExecution::put_row(const Step& step) {
  const auto ranks = static_cast<std::size_t>(shape_.node_size);
  std::byte* slot = at(step.to) + static_cast<std::size_t>(shape_.node_rank) * ranks * step.bytes;
  for (int i = 0; i < shape_.node_size; ++i, slot += step.bytes) {
    const int rank = shape_.rank_on_node(i);
    if (small_bytes(Way::to, rank, step) > 0) parcels_->pack(rank, slot);
  }
}

void ParcelExecution::take_column(const Step& step) {
  const auto ranks = static_cast<std::size_t>(shape_.node_size);
  const std::byte* slot = at(step.from) + static_cast<std::size_t>(shape_.node_rank) * step.bytes;
  for (int i = 0; i < shape_.node_size; ++i, slot += ranks * step.bytes) {
    const int rank = shape_.rank_on_node(i);
    if (small_bytes(Way::from, rank, step) > 0) parcels_->unpack(rank, slot);
  }
}

Result<bool> ParcelExecution::exchange(const Step& step) {
  if (!is_begun_) {
    is_begun_ = true;
    turn_ = 0;
    throttle_.emplace(step.count);
  }
  for (; turn_ < shape_.size; ++turn_) {
    const int rank = partner_in(turn_, shape_.rank, shape_.size);
    // Small ones lie in the stage.
    const std::size_t most = shape_.place_on_node(rank) < 0 ? 0 : step.bytes;
    const bool sends = parcels_->bytes_to(rank) > most;
    const bool receives = parcels_->bytes_from(rank) > most;
    if (!sends && !receives) continue;
    const std::size_t left = throttle_->room_for(sends, receives);
    const Result<bool> has_room = transport_.has_at_most(left);
    if (!has_room || !has_room.value()) return has_room;
    throttle_->keep(left);
    if (Error error = exchange_with(rank, sends, receives)) return error;
  }
  const Result<bool> is_complete = transport_.has_at_most(0);
  if (is_complete && is_complete.value()) is_begun_ = false;
  return is_complete;
}

Error ParcelExecution::exchange_with(int rank, bool sends, bool receives) {
  // What is sent may have to be copied before something comes to its place.
  Parcels::Outgoing outgoing;
  if (sends) outgoing = parcels_->to(rank);
  if (receives) {
    throttle_->begin(false);
    if (Error error = transport_.receive_parcel(rank, parcels_->from(rank))) return error;
  }
  if (!sends) return {};
  throttle_->begin(true);
  return transport_.send_parcel(rank, std::move(outgoing));
}

}  // namespace headrace::collective
