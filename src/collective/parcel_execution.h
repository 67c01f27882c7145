#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "collective/node_message.h"
#include "collective/parcel_mover.h"
#include "collective/parcels.h"
#include "collective/root_execution.h"
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
      : shape_(shape),
        stage_(stage),
        transport_(transport),
        mover_(parcels, transport),
        root_(shape, stage, mover_, transport) {}
  ParcelExecution(const ParcelExecution&) = delete;
  ParcelExecution& operator=(const ParcelExecution&) = delete;

  /// Goes on with a step as far as it can without waiting. Whether the step is done.
  Result<bool> advance(const Step& step);

  /// All steps are done. What went wrong without keeping this rank from going on.
  Error finish() { return mover_.finish(); }

 private:
  /// A parcel that comes from a rank as a message, if one does, and its size where that is known.
  struct Incoming {
    bool is_any = false;
    std::optional<std::size_t> bytes;
  };

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
  Error exchange_with(int rank, bool sends, const Incoming& incoming);
  Incoming incoming_from(int rank, std::size_t small);
  /// Of the pair: who gives is the first.
  std::byte* slot(int from, int to, std::size_t small) const;

  NodeMessage message(std::byte* memory, const Step& step) const {
    return {memory, shape_.node_size, step.bytes};
  }
  /// Sizes that the ranks of the node have told.
  NodeMessage told(const Step& step) const { return message(stage_, step); }
  std::byte* at(Position position) const { return stage_ + position.offset; }

  const Shape& shape_;
  std::byte* stage_;
  Transport& transport_;
  ParcelMover mover_;
  RootExecution root_;

  // Of an exchange that is not done.
  bool is_begun_ = false;
  int turn_ = 0;
  std::optional<Throttle> throttle_;
};

}  // namespace headrace::collective
