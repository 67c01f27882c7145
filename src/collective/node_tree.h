#pragma once

#include <vector>

#include "collective/shape.h"

namespace headrace::collective {

/// A rank's neighbours in the binomial tree of nodes, in which the root speaks for its node, and
/// leaders for theirs. Of ranks that speak for no node it means nothing.
struct NodeTree {
  int parent = -1;            ///< a rank; -1: none, this is the root
  std::vector<int> children;  ///< ranks, the one with most nodes below it first
};

NodeTree node_tree(const Shape& shape, int root);

/// The most children that a node can have.
int most_children(int node_count);

}  // namespace headrace::collective
