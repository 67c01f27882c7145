#pragma once

#include <cstddef>

#include "base/result.h"
#include "collective/node_message.h"
#include "collective/parcel_mover.h"
#include "collective/schedule.h"
#include "collective/shape.h"
#include "collective/transport.h"

namespace headrace::collective {

/// The root's part of gathers and scatters: node by node, one message with all small parcels, and
/// one for each that is not. All that it is given must live as long.
class RootExecution {
 public:
  RootExecution(const Shape& shape, std::byte* stage, ParcelMover& mover, Transport& transport)
      : shape_(shape), stage_(stage), mover_(mover), transport_(transport) {}

  // Go on with a step as far as that is possible without waiting. Whether the step is done.
  Result<bool> collect(const Step& step);
  Result<bool> deal(const Step& step);

 private:
  void begin();
  /// Of gathering: takes what lies in the stage already.
  Error take_own_node(const Step& step);
  /// Begins to receive messages of nodes while the step's memory has room for them.
  Error receive_nodes(const Step& step);
  /// Takes what has come in these, and begins to receive what is not small; false where too much is
  /// under way.
  Result<bool> take_nodes(const Step& step);
  Result<bool> take_node(const Step& step, const NodeMessage& sizes, int node);
  void take_small(const NodeMessage& message, std::size_t end, int rank);
  /// The most bytes of a node's message that are expected; 0 where none is.
  std::size_t expected_from(int node, const Step& step);

  Result<bool> deal_to(const Step& step, int node);
  Error send_node(const Step& step, int node, std::size_t bytes);
  std::size_t bytes_to(int node, const Step& step);

  std::byte* at(Position position) const { return stage_ + position.offset; }
  int node_in(int turn) const { return (shape_.node_index + turn) % shape_.node_count; }

  const Shape& shape_;
  std::byte* stage_;
  ParcelMover& mover_;
  Transport& transport_;

  // Of a step that is not done.
  bool is_begun_ = false;
  bool is_taking_ = false;
  int turn_ = 0;            ///< nodes before it have been begun with
  int taken_turn_ = 0;      ///< and before it been taken from
  int place_ = -1;          ///< of a node's ranks; -1: the message for all of them
  std::size_t filled_ = 0;  ///< bytes of the step's memory
  std::size_t taken_ = 0;   ///< of these, in whole messages
  std::size_t offset_ = 0;  ///< of the next small parcel in the message
};

}  // namespace headrace::collective
