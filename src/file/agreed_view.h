#pragma once

#include "file/agreement.h"

namespace headrace::file {

/// What ranks have told of a view and of themselves.
struct ViewShape {
  int node_ranks = 1;  ///< ranks on this node
  int nodes = 1;
  ByteCount mean_piece = 0;  ///< see policy::ViewFacts
  bool is_monotonic = true;
  std::int64_t slots = 0;  ///< collective buffers of the node that were wished for
};

/// What follows from the hints and the layout that all have agreed on.
void apply_hints_and_layout(Agreement& agreement);

/// After apply_hints_and_layout(): the facts of the view, and the windows and slots for them.
void set_view(Agreement& agreement, const ViewShape& shape);

}  // namespace headrace::file
