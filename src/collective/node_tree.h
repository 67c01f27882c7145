#pragma once

#include <cstddef>
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

/// Bytes that go along the tree at a time, of at most `room`. Where nodes hand data on, it goes in
/// parts, so that a part goes on while the next one comes; libraries send that much without asking
/// the receiver first.
std::size_t part_of_tree(const Shape& shape, std::size_t room);

/// The most children that a node can have.
int most_children(int node_count);

}  // namespace headrace::collective
