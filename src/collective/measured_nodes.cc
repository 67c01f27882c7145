#include "collective/measured_nodes.h"

#include <algorithm>
#include <charconv>

#include "collective/shape.h"

namespace headrace::collective {
namespace {

constexpr int kMost = 1 << 24;

/// A whole text that is a number from `least` on, without leading zeros.
bool read_number(std::string_view text, int least, int& number) {
  if (text.empty() || text.front() < '1' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= least &&
         number <= kMost;
}

bool spares_bytes(Operation operation) {
  switch (operation) {
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block: return true;
    default: return false;
  }
}

}  // namespace

NodeSizes node_sizes(const Shape& shape) {
  NodeSizes sizes{shape.node_count, shape.largest_node, shape.largest_node};
  for (int node = 0; node < shape.node_count; ++node) {
    sizes.least = std::min(sizes.least, shape.size_of(node));
  }
  return sizes;
}

bool holds_on(const MeasuredNodes& measured, Operation operation, const NodeSizes& sizes) {
  if (measured.nodes == 1 || sizes.nodes == 1) {
    const bool is_small_enough = measured.ranks == 0 || sizes.most <= measured.ranks;
    return measured.nodes == sizes.nodes && is_small_enough;
  }
  if (measured.nodes == 0) return true;
  if (!spares_bytes(operation)) {
    return sizes.nodes == measured.nodes && sizes.least == measured.ranks &&
           sizes.most == measured.ranks;
  }
  return sizes.nodes <= measured.nodes && sizes.least >= measured.ranks;
}

bool read_nodes(std::string_view text, MeasuredNodes& nodes) {
  const std::size_t between = text.find('x');
  if (between == std::string_view::npos) return false;
  return read_number(text.substr(0, between), 2, nodes.nodes) &&
         read_number(text.substr(between + 1), 1, nodes.ranks);
}

bool read_ranks(std::string_view text, MeasuredNodes& nodes) {
  return read_number(text, 2, nodes.ranks);
}

std::string on_text(const MeasuredNodes& measured) {
  const std::string cores = measured.is_crowded ? " with fewer cores" : "";
  if (measured.ranks == 0) return cores.empty() ? "" : " on nodes" + cores;
  const std::string ranks =
      std::to_string(measured.ranks) + (measured.ranks == 1 ? " rank" : " ranks");
  if (measured.nodes == 1) return " with " + ranks + " on one node" + cores;
  return " on " + std::to_string(measured.nodes) + " nodes of " + ranks + cores;
}

}  // namespace headrace::collective
