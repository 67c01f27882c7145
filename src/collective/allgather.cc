#include "collective/allgather.h"

#include "collective/requirements.h"

namespace headrace::collective {

std::size_t total_bytes(const Shape& shape, const Call& call) {
  return call.blocks.are_alike() ? call.bytes * static_cast<std::size_t>(shape.size) : call.bytes;
}

double missing_bytes(const Shape& shape, const Call& call) {
  return static_cast<double>(total_bytes(shape, call)) * (1 - 1.0 / shape.node_count);
}

void gather_on_node(const Shape& shape, const Call& call, Schedule& schedule) {
  const std::size_t mine = bytes_of_places(call.blocks, shape, 0, shape.place());
  schedule.claim();
  schedule.copy({Area::send, 0}, {Area::stage, mine}, call.blocks.size_of(shape.rank));
  meet(schedule);
}

void take_all(const Shape& shape, Schedule& schedule) {
  if (shape.node_count > 1) {
    if (shape.is_leader()) {
      schedule.reach(2, fabric::Milestones::Audience::whoever);
    } else {
      schedule.await(0, 2);
    }
  }
  schedule.distribute(0, shape.size, {Area::stage, 0}, {Area::receive, 0});
}

const char* obstacle_between_nodes(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  return needs_room(total_bytes(shape, call), limits);
}

std::size_t largest_gathered(const Shape& shape, const Limits& limits) {
  return limits.stage / static_cast<std::size_t>(shape.size);
}

}  // namespace headrace::collective
