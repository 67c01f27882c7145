#include "collective/node_tree.h"

#include <bit>

namespace headrace::collective {

NodeTree node_tree(const Shape& shape, int root) {
  const int count = shape.node_count;
  const int root_node = shape.node_of(root);
  // Nodes are numbered from the root's on.
  const int number = (shape.node_index - root_node + count) % count;
  const auto rank_of = [&](int of) {
    return of == 0 ? root : shape.leader_of((of + root_node) % count);
  };
  NodeTree tree;
  int bit = 1;
  while (bit < count && (number & bit) == 0) bit *= 2;
  if (bit < count) tree.parent = rank_of(number - bit);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (number + bit < count) tree.children.push_back(rank_of(number + bit));
  }
  return tree;
}

int most_children(int node_count) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(node_count - 1)));
}

}  // namespace headrace::collective
