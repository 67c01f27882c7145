// Sums and the like of blocks, of which each rank gets its own. A node's ranks divide the work of
// adding up what they give, in rank order; leaders send each other node its part; what has come
// from the nodes is added up in the order of nodes. So the order depends on the shape alone.
#include "collective/algorithm.h"
#include "collective/allgather.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

/// Leaders send to all others at once.
constexpr int kMostNodes = 64;

const char* obstacle_on_node(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  const auto ranks = static_cast<std::size_t>(shape.node_size);
  return needs_room(ranks * total_bytes(shape, call), limits);
}

void give_all(const Shape& shape, const Call& call, Schedule& schedule) {
  const std::size_t row = total_bytes(shape, call);
  const Position mine{Area::stage, static_cast<std::size_t>(shape.node_rank) * row};
  schedule.claim();
  schedule.collect(0, shape.size, {Area::send, 0}, mine);
  meet(schedule);
}

void plan_on_node(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  give_all(shape, call, schedule);
  const std::size_t mine = bytes_of_places(call.blocks, shape, 0, shape.place());
  schedule.reduce(shape.node_size, {Area::stage, mine}, total_bytes(shape, call),
                  {Area::receive, 0}, call.blocks.size_of(shape.rank));
}

/// What the ranks of the largest node give, its sums, and what comes from all nodes for one.
std::size_t needed_between_nodes(const Shape& shape, const Call& call) {
  const auto rows = static_cast<std::size_t>(shape.largest_node) + 1;
  std::size_t largest_part = 0;
  for (int node = 0; node < shape.node_count; ++node) {
    const std::size_t part =
        bytes_of_places(call.blocks, shape, shape.begin_of(node), shape.begin_of(node + 1));
    if (part > largest_part) largest_part = part;
  }
  return rows * total_bytes(shape, call) +
         static_cast<std::size_t>(shape.node_count) * largest_part;
}

const char* obstacle_between(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  if (shape.node_count > kMostNodes) return "there are too many nodes";
  return needs_room(needed_between_nodes(shape, call), limits);
}

Algorithm::Cost cost(const Shape& shape, const Call& call) {
  return {missing_bytes(shape, call), static_cast<double>(shape.node_count - 1)};
}

void exchange_sums(const Shape& shape, const Call& call, std::size_t sums, std::size_t incoming,
                   Schedule& schedule) {
  const auto begin_of = [&](int node) {
    return bytes_of_places(call.blocks, shape, 0, shape.begin_of(node));
  };
  const int own = shape.node_index;
  const std::size_t part = begin_of(own + 1) - begin_of(own);
  const auto place_of = [&](int node) {
    return Position{Area::stage, incoming + static_cast<std::size_t>(node) * part};
  };
  for (int turn = 1; turn < shape.node_count; ++turn) {
    const int node = (own + shape.node_count - turn) % shape.node_count;
    schedule.receive(shape.leader_of(node), place_of(node), part);
  }
  for (int turn = 1; turn < shape.node_count; ++turn) {
    const int node = (own + turn) % shape.node_count;
    schedule.send(shape.leader_of(node), {Area::stage, sums + begin_of(node)},
                  begin_of(node + 1) - begin_of(node));
  }
  schedule.copy({Area::stage, sums + begin_of(own)}, place_of(own), part);
  schedule.complete();
}

void plan_between(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  const std::size_t row = total_bytes(shape, call);
  const std::size_t sums = static_cast<std::size_t>(shape.node_size) * row;
  const std::size_t incoming = sums + row;
  give_all(shape, call, schedule);
  const Part share = part_of(row, call.element, shape.node_rank, shape.node_size);
  schedule.reduce(shape.node_size, {Area::stage, share.begin}, row,
                  {Area::stage, sums + share.begin}, share.bytes);
  schedule.reach(2, fabric::Milestones::Audience::all);
  if (shape.is_leader()) {
    schedule.await_all(2);
    exchange_sums(shape, call, sums, incoming, schedule);
    schedule.reach(3, fabric::Milestones::Audience::whoever);
  } else {
    schedule.await(0, 3);
  }
  const int first = shape.begin_of(shape.node_index);
  const std::size_t part =
      bytes_of_places(call.blocks, shape, first, shape.begin_of(shape.node_index + 1));
  const std::size_t mine = bytes_of_places(call.blocks, shape, first, shape.place());
  schedule.reduce(shape.node_count, {Area::stage, incoming + mine}, part, {Area::receive, 0},
                  call.blocks.size_of(shape.rank));
}

}  // namespace

const Algorithm node_reduce_scatter_block = {
    "shared", Operation::reduce_scatter_block, &obstacle_on_node, &no_cost, nullptr, &plan_on_node};
const Algorithm node_reduce_scatter = {
    "shared", Operation::reduce_scatter, &obstacle_on_node, &no_cost, nullptr, &plan_on_node};
const Algorithm nodes_reduce_scatter_block = {"sums of nodes",   Operation::reduce_scatter_block,
                                              &obstacle_between, &cost,
                                              nullptr,           &plan_between};
const Algorithm nodes_reduce_scatter = {
    "sums of nodes", Operation::reduce_scatter, &obstacle_between, &cost, nullptr, &plan_between};

}  // namespace headrace::collective
