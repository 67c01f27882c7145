#pragma once

#include <string>
#include <string_view>

#include "collective/operation.h"

namespace headrace::collective {

struct Shape;

/// The nodes that an operation was measured on.
struct MeasuredNodes {
  int nodes = 1;            ///< 0: several, however many
  int ranks = 0;            ///< of each node; 0: however many
  bool is_crowded = false;  ///< whether the ranks of a node outnumbered its cores

  friend bool operator==(const MeasuredNodes&, const MeasuredNodes&) = default;
};

inline constexpr MeasuredNodes kOneNode{1, 0};
inline constexpr MeasuredNodes kSeveralNodes{0, 0};

/// The nodes of a communicator.
struct NodeSizes {
  int nodes = 1;
  int least = 1;  ///< ranks of the node that has least
  int most = 1;
};
NodeSizes node_sizes(const Shape& shape);

/// Whether what was measured there may be taken to hold for the nodes of a communicator. What was
/// measured on one node holds on one with as many ranks, or fewer: with more, each rank waits for
/// more others, and reads more of theirs. What was measured on several holds
///
/// - on several, but no more of them: our leaders send up to a message to each other node, where a
///   library may need a number of messages that grows with the logarithm of the ranks;
/// - where each node has as many ranks or more: what is spared are bytes of a node's ranks;
/// - of operations that spare none, on such nodes alone: gathering and scattering spare messages,
///   which count less the more a node's ranks give together.
///
/// Whether ranks outnumber cores is another question: then they sleep while they wait.
bool holds_on(const MeasuredNodes& measured, Operation operation, const NodeSizes& sizes);

/// "4x2", as the header of a table has it: nodes, and ranks of each. False where it is none.
bool read_nodes(std::string_view text, MeasuredNodes& nodes);
/// "8": ranks of one node. False where it is none.
bool read_ranks(std::string_view text, MeasuredNodes& nodes);

/// " on 4 nodes of 2 ranks"; empty where numbers are not known.
std::string on_text(const MeasuredNodes& measured);

}  // namespace headrace::collective
