#include "collective/algorithm.h"

#include <algorithm>
#include <array>
#include <limits>

namespace headrace::collective {
namespace {

/// Values, since other files' objects may be made later than this one.
std::array<const Algorithm*, 30> all() {
  return {&node_barrier,
          &node_bcast,
          &node_allreduce_each,
          &node_allreduce_shared,
          &node_allgather,
          &node_allgatherv,
          &node_alltoall,
          &node_reduce_scatter_block,
          &node_reduce_scatter,
          &nodes_allgather_ring,
          &nodes_allgather_bruck,
          &nodes_allgatherv_ring,
          &nodes_allgatherv_bruck,
          &nodes_reduce_scatter_block,
          &nodes_reduce_scatter,
          &node_gather,
          &node_gatherv,
          &node_scatter,
          &node_scatterv,
          &node_alltoallv,
          &node_alltoallw,
          &nodes_gather,
          &nodes_gatherv,
          &nodes_scatter,
          &nodes_scatterv,
          &nodes_alltoallv,
          &nodes_alltoallw,
          &nodes_bcast,
          &node_reduce,
          &nodes_reduce};
}

/// Parts are whole elements, and whole lines of the cache where one has room.
constexpr std::size_t kUnit = 64;
/// In so many parts data is handed on later by that share of its time; more would cost more.
constexpr std::size_t kPartsHandedOn = 16;
/// Libraries send that much without asking the receiver first, so that it goes on at once.
constexpr std::size_t kLeastPart = std::size_t{32} << 10;

/// Between two nodes nobody hands anything on.
bool hands_on(const Algorithm& algorithm, const Shape& shape) {
  return algorithm.hands_on && shape.node_count > 2;
}

/// The most bytes of a call that an algorithm, which makes parts, moves at a time.
std::size_t largest_of(const Algorithm& algorithm, const Shape& shape, const Call& call,
                       const Limits& limits) {
  const std::size_t room = algorithm.largest(shape, limits);
  if (!hands_on(algorithm, shape)) return room;
  const std::size_t share = (call.bytes + kPartsHandedOn - 1) / kPartsHandedOn;
  return std::min(room, std::max(kLeastPart, (share + kUnit - 1) / kUnit * kUnit));
}

/// A message costs about as much as this many bytes, those of 1.6 us at 10 GB/s. Assumed on
/// 2026-11-28 for networks of 100 Gbit/s, and not measured: no real cluster was at hand.
constexpr double kBytesOfMessage = 16384;

}  // namespace

std::span<const Algorithm* const> algorithms() {
  static const auto list = all();
  return list;
}

Choice choose(const Shape& shape, const Call& call, const Limits& limits) {
  Choice best;
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm* const candidate : algorithms()) {
    if (candidate->operation != call.operation) continue;
    if (const char* const obstacle = candidate->obstacle(shape, call, limits)) {
      // That of algorithms for several nodes, which come last, tells more there.
      if (best.obstacle == nullptr || shape.node_count > 1) best.obstacle = obstacle;
      continue;
    }
    const Algorithm::Cost cost = candidate->cost(shape, call);
    const double both = cost.bytes + cost.messages * kBytesOfMessage;
    if (both < least) {
      best.algorithm = candidate;
      least = both;
    }
  }
  if (best.algorithm != nullptr) best.obstacle = nullptr;
  return best;
}

std::size_t part_bytes(const Shape& shape, const Call& call, const Limits& limits) {
  std::size_t largest = 0;
  for (const Algorithm* const candidate : algorithms()) {
    if (candidate->operation == call.operation && candidate->largest != nullptr) {
      largest = std::max(largest, largest_of(*candidate, shape, call, limits));
    }
  }
  std::size_t unit = kUnit;
  while (unit > largest && unit / 2 >= call.element && unit > 1) unit /= 2;
  largest -= largest % unit;
  return largest == 0 ? call.bytes : std::min(call.bytes, largest);
}

/// Else all parts but the last are as large as what has room, whatever the size of the call.
std::size_t last_below(const Algorithm& algorithm, const Shape& shape) {
  return hands_on(algorithm, shape) ? kLeastPart : std::numeric_limits<std::size_t>::max();
}

}  // namespace headrace::collective
