#include "collective/parcel_execution.h"

#include <cstring>
#include <span>
#include <utility>

#include "collective/parcel_room.h"

namespace headrace::collective {

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
    case ParcelAction::collect: return root_.collect(step);
    case ParcelAction::deal: return root_.deal(step);
    case ParcelAction::put_row: put_row(step); return true;
    case ParcelAction::take_column: take_column(step); return true;
    case ParcelAction::exchange: return exchange(step);
  }
  return true;
}

void ParcelExecution::put(const Step& step) {
  const int own = shape_.node_rank;
  NodeMessage sizes = told(step);
  sizes.tell(own, mover_.parcels().bytes_to(step.peer));
  if (sizes.small_bytes(own) == 0) return;
  mover_.parcels().pack(step.peer, at(step.to) + static_cast<std::size_t>(own) * step.bytes);
}

void ParcelExecution::announce(const Step& step) {
  told(step).tell(shape_.node_rank, mover_.parcels().bytes_from(step.peer));
}

void ParcelExecution::lay_out(const Step& step) {
  NodeMessage own = message(at(step.to), step);
  mover_.lay_out(shape_, shape_.node_index, own);
}

void ParcelExecution::take(const Step& step) {
  const NodeMessage given = message(at(step.from), step);
  const int own = shape_.node_rank;
  mover_.take(step.peer, given.memory() + given.offset_of(own), given.small_bytes(own));
}

Error ParcelExecution::send_node(const Step& step) {
  const NodeMessage sizes = told(step);
  if (!sizes.is_needed()) return {};
  NodeMessage sent = message(at(step.to), step);
  sent.tell_as(sizes);
  std::byte* end = sent.memory() + NodeMessage::header(shape_.node_size);
  for (int i = 0; i < shape_.node_size; ++i) {
    const std::byte* const slot = at(step.from) + static_cast<std::size_t>(i) * step.bytes;
    std::memcpy(end, slot, sizes.small_bytes(i));
    end += sizes.small_bytes(i);
  }
  return transport_.send(step.peer, std::span<const std::byte>(sent.memory(), end));
}

Error ParcelExecution::receive_node(const Step& step) {
  // The root may send more than was announced.
  message(at(step.to), step).clear();
  if (!told(step).is_needed()) return {};
  return transport_.receive(step.peer, std::span<std::byte>(at(step.to), step.to_distance));
}

Error ParcelExecution::send_own(const Step& step) {
  return mover_.parcels().bytes_to(step.peer) > step.bytes ? mover_.send(step.peer) : Error();
}

Error ParcelExecution::receive_own(const Step& step) {
  const NodeMessage given = message(at(step.from), step);
  const int own = shape_.node_rank;
  return given.is_small(own) ? Error() : mover_.receive(step.peer, given.bytes_of(own));
}

std::byte* ParcelExecution::slot(int from, int to, std::size_t small) const {
  const auto index = static_cast<std::size_t>(from) * static_cast<std::size_t>(shape_.node_size) +
                     static_cast<std::size_t>(to);
  return stage_ + index * (kPairHeader + small);
}

void ParcelExecution::put_row(const Step& step) {
  for (int i = 0; i < shape_.node_size && step.bytes > 0; ++i) {
    const int rank = shape_.rank_on_node(i);
    const std::size_t bytes = mover_.parcels().bytes_to(rank);
    std::byte* const own = slot(shape_.node_rank, i, step.bytes);
    std::memcpy(own, &bytes, kPairHeader);
    if (bytes > 0 && bytes <= step.bytes) mover_.parcels().pack(rank, own + kPairHeader);
  }
}

void ParcelExecution::take_column(const Step& step) {
  for (int i = 0; i < shape_.node_size && step.bytes > 0; ++i) {
    const std::byte* const given = slot(i, shape_.node_rank, step.bytes);
    std::size_t bytes = 0;
    std::memcpy(&bytes, given, kPairHeader);
    if (bytes <= step.bytes) mover_.take(shape_.rank_on_node(i), given + kPairHeader, bytes);
  }
}

ParcelExecution::Incoming ParcelExecution::incoming_from(int rank, std::size_t small) {
  const int place = small == 0 ? -1 : shape_.place_on_node(rank);
  if (place < 0) return {mover_.parcels().bytes_from(rank) > 0, std::nullopt};
  std::size_t bytes = 0;
  std::memcpy(&bytes, slot(place, shape_.node_rank, small), kPairHeader);
  return {bytes > small, bytes};
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
    const bool sends = mover_.parcels().bytes_to(rank) > most;
    const Incoming incoming = incoming_from(rank, step.bytes);
    if (!sends && !incoming.is_any) continue;
    const std::size_t left = throttle_->room_for(sends, incoming.is_any);
    if (!transport_.has_at_most(left)) return false;
    throttle_->keep(left);
    if (Error error = exchange_with(rank, sends, incoming)) return error;
  }
  if (!transport_.has_at_most(0)) return false;
  is_begun_ = false;
  return true;
}

Error ParcelExecution::exchange_with(int rank, bool sends, const Incoming& incoming) {
  // What is sent may have to be copied before something comes to its place.
  Parcels::Outgoing outgoing;
  if (sends) outgoing = mover_.parcels().to(rank);
  if (incoming.is_any) {
    throttle_->begin(false);
    if (Error error = mover_.receive(rank, incoming.bytes)) return error;
  }
  if (!sends) return {};
  throttle_->begin(true);
  return transport_.send_parcel(rank, std::move(outgoing));
}

}  // namespace headrace::collective
