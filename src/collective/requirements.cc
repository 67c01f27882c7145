#include "collective/requirements.h"

#include "collective/parcel_room.h"

namespace headrace::collective {

const char* needs_one_node(const Shape& shape, const Call&, const Limits&) {
  return shape.node_count == 1 ? nullptr : "the ranks are on several nodes";
}

const char* needs_nodes_of_ranks(const Shape& shape) {
  if (shape.node_count == 1) return "the ranks are on one node";
  return shape.largest_node > 1 ? nullptr : kNoneShares;
}

const char* needs_room(std::size_t bytes, const Limits& limits) {
  return bytes <= limits.stage ? nullptr : "it is too large for the node's shared memory";
}

namespace {

const char* needs_small_parcels(const Shape& shape, const Call& call, const Limits& limits) {
  const std::size_t small = rooted_room(shape, limits).small;
  if (small == 0) return "there are too many ranks for the node's shared memory";
  // Where all know how large it is, and that nothing would be put together.
  return call.bytes <= small ? nullptr : "it is too large to gain from sharing a message";
}

}  // namespace

const char* needs_parcels_on_node(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  return needs_small_parcels(shape, call, limits);
}

const char* needs_parcels_between(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  return needs_small_parcels(shape, call, limits);
}

Algorithm::Cost no_cost(const Shape&, const Call&) {
  return {};
}

Algorithm::Cost cost_of_tree(const Shape& shape, const Call& call) {
  const double messages = 1 - 1.0 / shape.node_count;
  return {messages * static_cast<double>(call.bytes), messages};
}

void give_row(const Shape& shape, const Call& call, Schedule& schedule) {
  const std::size_t mine = static_cast<std::size_t>(shape.node_rank) * call.bytes;
  schedule.claim();
  schedule.copy({Area::send, 0}, {Area::stage, mine}, call.bytes);
  meet(schedule);
}

std::size_t largest_rows_on_node(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 ? 0 : limits.stage / rows_and_sums(shape);
}

std::size_t add_up_rows(const Shape& shape, const Call& call, Schedule& schedule) {
  const std::size_t sums = static_cast<std::size_t>(shape.node_size) * call.bytes;
  const Part mine = part_of(call.bytes, call.element, shape.node_rank, shape.node_size);
  schedule.reduce(shape.node_size, {Area::stage, mine.begin}, call.bytes,
                  {Area::stage, sums + mine.begin}, mine.bytes);
  schedule.reach(2, fabric::Milestones::Audience::all);
  return sums;
}

void meet(Schedule& schedule) {
  schedule.reach(1, fabric::Milestones::Audience::all);
  schedule.await_all(1);
}

Part part_of(std::size_t bytes, std::size_t element, int index, int parts) {
  const std::size_t elements = bytes / element;
  const auto of = [&](int i) {
    return elements * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) * element;
  };
  return {of(index), of(index + 1) - of(index)};
}

}  // namespace headrace::collective
