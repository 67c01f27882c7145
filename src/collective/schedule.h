#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/milestones.h"

namespace headrace::collective {

/// Phases of a call are 1 to this one, by which a rank has read all that others gave.
inline constexpr std::uint8_t kLastPhase = 15;

/// Memory of a call.
enum class Area : std::uint8_t {
  send,     ///< what this rank gives
  receive,  ///< where it gets the result
  stage,    ///< memory that the node's ranks share for this call
};

struct Position {
  Area area = Area::stage;
  std::size_t offset = 0;  ///< bytes
};

/// What a step of kind `parcels` does: the sizes are those of the call's parcels (parcels.h). A
/// parcel is small if it has at most `bytes`; `peer` is the root; memory at `to` ends after
/// `to_distance` bytes.
enum class ParcelAction : std::uint8_t {
  put,           ///< this rank's small parcel for the root, and its size, to the stage
  announce,      ///< the size of this rank's small parcel from the root, to the stage
  lay_out,       ///< the node's small parcels that the root sends, one behind the other, to `to`
  take,          ///< this rank's small parcel from those
  send_node,     ///< one message with all small parcels of the node to the root, by way of `to`
  receive_node,  ///< one message with those from the root, to `to`
  send_own,      ///< a parcel that is not small, to the root
  receive_own,   ///< from it
  collect,       ///< the root: from slots at `from` and from other ranks, by way of `to`
  deal,          ///< the root: to other ranks, by way of `to`
  put_row,       ///< small parcels for all of the node, to slots at `to`
  take_column,   ///< those from all of the node
  exchange,      ///< messages with all ranks of which neither row nor column has the parcel
};

/// One thing that one rank does. Several of the fields are of some kinds only.
struct Step {
  enum class Kind : std::uint8_t {
    claim,       ///< wait until nobody of the node uses the stage for an earlier call
    copy,        ///< `count` stretches of `bytes`, at distances
    collect,     ///< blocks of `count` places from `place` on: from a buffer, in rank order,
                 ///< to the stage, one behind the other
    distribute,  ///< the same from the stage to a buffer
    reduce,      ///< `count` stretches of `bytes` at a distance, the first one first, to one
    reach,       ///< tell the node's ranks: all steps so far are done
    await_all,   ///< wait until all of the node have reached a phase
    await,       ///< wait until rank `peer` of the node has
    send,        ///< begin to send to rank `peer` of the communicator
    receive,     ///< begin to receive from it
    complete,    ///< wait for all that was begun
    parcels,     ///< move what only this rank knows the sizes of
  };
  Kind kind;
  ParcelAction action = ParcelAction::put;
  std::uint8_t phase = 0;
  fabric::Milestones::Audience audience = fabric::Milestones::Audience::whoever;
  int peer = 0;
  int place = 0;
  int count = 1;
  Position from{};
  Position to{};
  std::size_t bytes = 0;
  std::size_t from_distance = 0;
  std::size_t to_distance = 0;
};

/// What one rank does in one call, in order. The first wait of a call also compares what the ranks
/// have said of it.
struct Schedule {
  std::vector<Step> steps;
  /// Nobody is done before all ranks of the node have come, so that afterwards the stage of the
  /// call before is free.
  bool meets = true;

  // Makers of steps, in the order in which a rank does them.
  void claim() { steps.push_back({.kind = Step::Kind::claim}); }
  void copy(Position from, Position to, std::size_t bytes) {
    if (bytes > 0)
      steps.push_back({.kind = Step::Kind::copy, .from = from, .to = to, .bytes = bytes});
  }
  void copy_many(int count, Position from, std::size_t from_distance, Position to,
                 std::size_t to_distance, std::size_t bytes) {
    if (bytes == 0) return;
    steps.push_back({.kind = Step::Kind::copy,
                     .count = count,
                     .from = from,
                     .to = to,
                     .bytes = bytes,
                     .from_distance = from_distance,
                     .to_distance = to_distance});
  }
  void collect(int place, int count, Position from, Position to) {
    steps.push_back(
        {.kind = Step::Kind::collect, .place = place, .count = count, .from = from, .to = to});
  }
  void distribute(int place, int count, Position from, Position to) {
    steps.push_back(
        {.kind = Step::Kind::distribute, .place = place, .count = count, .from = from, .to = to});
  }
  void reduce(int count, Position from, std::size_t distance, Position to, std::size_t bytes) {
    if (bytes == 0) return;
    steps.push_back({.kind = Step::Kind::reduce,
                     .count = count,
                     .from = from,
                     .to = to,
                     .bytes = bytes,
                     .from_distance = distance});
  }
  void reach(std::uint8_t phase, fabric::Milestones::Audience audience) {
    steps.push_back({.kind = Step::Kind::reach, .phase = phase, .audience = audience});
  }
  void await_all(std::uint8_t phase) {
    steps.push_back({.kind = Step::Kind::await_all, .phase = phase});
  }
  void await(int node_rank, std::uint8_t phase) {
    steps.push_back({.kind = Step::Kind::await, .phase = phase, .peer = node_rank});
  }
  void send(int rank, Position from, std::size_t bytes) {
    if (bytes == 0) return;
    steps.push_back({.kind = Step::Kind::send, .peer = rank, .from = from, .bytes = bytes});
  }
  void receive(int rank, Position to, std::size_t bytes) {
    if (bytes == 0) return;
    steps.push_back({.kind = Step::Kind::receive, .peer = rank, .to = to, .bytes = bytes});
  }
  /// `largest_small`: Step::bytes. Both positions are in the stage; `room`: bytes from `to` on.
  void parcels(ParcelAction action, int root, std::size_t largest_small, std::size_t from = 0,
               std::size_t to = 0, std::size_t room = 0) {
    steps.push_back({.kind = Step::Kind::parcels,
                     .action = action,
                     .peer = root,
                     .from = {Area::stage, from},
                     .to = {Area::stage, to},
                     .bytes = largest_small,
                     .to_distance = room});
  }
  void complete() { steps.push_back({.kind = Step::Kind::complete}); }
};

}  // namespace headrace::collective
