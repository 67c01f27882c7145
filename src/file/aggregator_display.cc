#include "file/aggregator_display.h"

#include <algorithm>
#include <array>

#include "base/spelling.h"
#include "topo/node.h"

namespace headrace::file {
namespace {

constexpr std::size_t kLongestName = 1024;

/// What a node's leader tells the first rank.
struct ToldNode {
  std::array<char, 256> host{};  ///< ends with a zero
  std::int64_t places = 0;
};

ToldNode own_node(int places) {
  ToldNode own;
  own.places = places;
  static_cast<void>(attempt([&]() -> Error {
    const std::string host = topo::host_name();
    std::copy_n(host.begin(), std::min(host.size(), own.host.size() - 1), own.host.begin());
    return {};
  }));
  return own;
}

AggregatorNode node_of(const topo::NodeMap& map, int node, const ToldNode& told) {
  AggregatorNode made{told.host.data(), static_cast<int>(told.places), {}};
  for (int place = 0; place < topo::NodeMap::kKnownRanks; ++place) {
    const int rank = map.rank_at(node, place);
    if (rank >= 0) made.ranks.push_back(rank);
  }
  return made;
}

std::string rank_text(const AggregatorNode& node, int place) {
  const auto at = static_cast<std::size_t>(place);
  const std::string rank = at < node.ranks.size()
                               ? "rank " + std::to_string(node.ranks[at])
                               : "the node's rank " + std::to_string(place) + ", counted from 0,";
  return rank + " on " + printable(node.host);
}

std::vector<int> places_of(std::span<const AggregatorNode> nodes) {
  std::vector<int> places;
  for (const AggregatorNode& node : nodes) places.push_back(node.places);
  return places;
}

}  // namespace

std::vector<std::string> aggregator_lines(const std::string& path,
                                          std::span<const AggregatorNode> nodes,
                                          const DomainHints& domains, bool may_exchange) {
  const std::string head = "aggregators of '" + printable(path, kLongestName) + "': ";
  if (nodes.size() == 1) {
    return {head + "all ranks, which are on " + printable(nodes.front().host) +
            ": whichever is free reads and writes for all"};
  }
  if (!may_exchange) {
    return {head +
            "none between nodes, since these may not read and write for each other here: "
            "on each node whichever rank is free does it for the node"};
  }
  const plan::AggregatorChoice choice = choose_aggregators(places_of(nodes), domains);
  std::vector<std::string> lines = {head + std::to_string(choice.aggregators.size()) +
                                    " for calls in which nodes exchange"};
  for (std::size_t i = 0; i < choice.aggregators.size(); ++i) {
    const plan::Aggregator& one = choice.aggregators[i];
    lines.push_back("  " + std::to_string(i) + ": " +
                    rank_text(nodes[static_cast<std::size_t>(one.node)], one.place));
  }
  if (!choice.correction.empty()) lines.push_back("  " + choice.correction);
  lines.emplace_back("  other ranks of its node help an aggregator to read and write");
  return lines;
}

std::vector<AggregatorNode> gather_nodes(exchange::FileChannel& channel, int places) {
  const topo::NodeMap& map = channel.nodes();
  const ToldNode own = own_node(places);
  std::vector<AggregatorNode> nodes;
  if (map.rank() != 0) {
    if (map.is_leader()) {
      static_cast<void>(channel.exchange(0, std::as_bytes(std::span(&own, 1)), -1, {}));
    }
    return nodes;
  }
  bool is_whole = true;
  for (int node = 0; node < map.node_count(); ++node) {
    ToldNode told = own;
    const int leader = map.leaders()[static_cast<std::size_t>(node)];
    if (leader != 0 &&
        channel.exchange(-1, {}, leader, std::as_writable_bytes(std::span(&told, 1)))) {
      is_whole = false;
      break;
    }
    told.host.back() = '\0';
    const Error lacking = attempt([&]() -> Error {
      nodes.push_back(node_of(map, node, told));
      return {};
    });
    is_whole = is_whole && !lacking;
  }
  if (!is_whole) nodes.clear();
  return nodes;
}

}  // namespace headrace::file
