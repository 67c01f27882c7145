#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "collective/parcels.h"
#include "collective/schedule.h"
#include "collective/shape.h"
#include "collective/throttle.h"
#include "collective/transport.h"

namespace headrace::collective {

/// Carries out the steps of a call that move parcels. Their sizes are looked up on the way, so that
/// a schedule is the same for all sizes, and has no list of ranks.
class ParcelExecution {
 public:
  /// All that it is given must live as long; `parcels` may be null where no step moves any.
  ParcelExecution(const Shape& shape, Parcels* parcels, std::byte* stage, Transport& transport)
      : shape_(shape), parcels_(parcels), stage_(stage), transport_(transport) {}

  /// Goes on with a step as far as it can without waiting. Whether the step is done.
  Result<bool> advance(const Step& step);

 private:
  enum class Way { to, from };

  void put(const Step& step);
  void announce(const Step& step);
  void lay_out(const Step& step);
  void take(const Step& step);
  Error send_node(const Step& step);
  Error receive_node(const Step& step);
  Error send_own(const Step& step);
  Error receive_own(const Step& step);
  void put_row(const Step& step);
  void take_column(const Step& step);
  Result<bool> exchange(const Step& step);
  Error exchange_with(int rank, bool sends, bool receives);

  // The root's part: node by node, one message with all small parcels, and one for each that is
  // not. What comes from a node stays at its place of the step's memory until that is full.
  Result<bool> visit_nodes(const Step& step, Way way);
  Result<bool> visit(const Step& step, Way way, int node);
  Error move_node(const Step& step, Way way, int node, std::size_t bytes);
  Error move_one(Way way, int rank);
  Error begin_collecting(const Step& step);
  void unpack_nodes(const Step& step);

  std::size_t bytes_of(Way way, int rank) {
    return way == Way::to ? parcels_->bytes_to(rank) : parcels_->bytes_from(rank);
  }
  /// 0 where it is not.
  std::size_t small_bytes(Way way, int rank, const Step& step) {
    const std::size_t bytes = bytes_of(way, rank);
    return bytes <= step.bytes ? bytes : 0;
  }
  std::size_t node_bytes(Way way, int node, const Step& step);
  /// Sizes that the ranks of the node have told.
  std::uint64_t* told_sizes() { return reinterpret_cast<std::uint64_t*>(stage_); }
  std::byte* at(Position position) const { return stage_ + position.offset; }
  int node_in(int turn) const { return (shape_.node_index + turn) % shape_.node_count; }

  const Shape& shape_;
  Parcels* parcels_;
  std::byte* stage_;
  Transport& transport_;

  // Of a step that is not done.
  bool is_begun_ = false;
  int turn_ = 0;
  int place_ = 0;           ///< of a node's ranks; -1: the message for all of them
  int first_turn_ = 0;      ///< nodes from there on have messages in the step's memory
  std::size_t filled_ = 0;  ///< bytes of that
  std::optional<Throttle> throttle_;
};

}  // namespace headrace::collective
