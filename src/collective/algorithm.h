#pragma once

#include <span>
#include <string_view>

#include "collective/call.h"
#include "collective/schedule.h"

namespace headrace::collective {

/// A way to carry an operation out. Its functions are pure: all ranks give the same shape, but for
/// their own places, and the same call, and so make schedules that fit.
struct Algorithm {
  std::string_view name;
  Operation operation;
  /// Why it cannot be used for this, for people; null where it can.
  const char* (*obstacle)(const Shape& shape, const Call& call, const Limits& limits);
  /// What a leader sends to other nodes, on average: all ranks find the same.
  struct Cost {
    double bytes = 0;
    double messages = 0;
  };
  Cost (*cost)(const Shape& shape, const Call& call);
  /// The most bytes (of Call::bytes) that have room in the stage; larger calls are made in parts of
  /// that size. 0 where it cannot be used for the shape; null where it makes no parts.
  std::size_t (*largest)(const Shape& shape, const Limits& limits);
  /// Adds this rank's steps.
  void (*plan)(const Shape& shape, const Call& call, const Limits& limits, Schedule& schedule);
  /// Whether nodes hand data on. It then goes in parts, so that a part goes on while the next one
  /// comes.
  bool hands_on = false;
};

/// All there are.
std::span<const Algorithm* const> algorithms();

/// The best of those that can be used, by their cost: which one, or why none.
struct Choice {
  const Algorithm* algorithm = nullptr;
  const char* obstacle = nullptr;
};
Choice choose(const Shape& shape, const Call& call, const Limits& limits);

/// Bytes of each part of a call that is larger than what has room in the stage, or that nodes hand
/// on: the whole call where it has room, or where no algorithm makes it in parts.
std::size_t part_bytes(const Shape& shape, const Call& call, const Limits& limits);

/// Of messages of a call that goes in parts: one of fewer bytes than these, and than are expected,
/// is its sender's last.
std::size_t last_below(const Algorithm& algorithm, const Shape& shape);

// In the files that are named after them.
extern const Algorithm node_barrier;
extern const Algorithm node_bcast;
extern const Algorithm node_reduce;
extern const Algorithm node_allreduce_each;
extern const Algorithm node_allreduce_shared;
extern const Algorithm node_allgather;
extern const Algorithm node_allgatherv;
extern const Algorithm node_alltoall;
extern const Algorithm node_reduce_scatter_block;
extern const Algorithm node_reduce_scatter;
extern const Algorithm node_gather;
extern const Algorithm node_gatherv;
extern const Algorithm node_scatter;
extern const Algorithm node_scatterv;
extern const Algorithm node_alltoallv;
extern const Algorithm node_alltoallw;
extern const Algorithm nodes_bcast;
extern const Algorithm nodes_reduce;
extern const Algorithm nodes_allgather_ring;
extern const Algorithm nodes_allgather_bruck;
extern const Algorithm nodes_allgatherv_ring;
extern const Algorithm nodes_allgatherv_bruck;
extern const Algorithm nodes_reduce_scatter_block;
extern const Algorithm nodes_reduce_scatter;
extern const Algorithm nodes_gather;
extern const Algorithm nodes_gatherv;
extern const Algorithm nodes_scatter;
extern const Algorithm nodes_scatterv;
extern const Algorithm nodes_alltoallv;
extern const Algorithm nodes_alltoallw;

}  // namespace headrace::collective
