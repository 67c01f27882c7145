#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/file_channel.h"
#include "file/exchange_planner.h"

namespace headrace::file {

/// A node of a file's ranks.
struct AggregatorNode {
  std::string host;
  int places = 0;          ///< how many aggregators it may have
  std::vector<int> ranks;  ///< its first ones, in the file's communicator
};

/// Lines for people: which ranks on which nodes are the aggregators of a file that is opened.
/// `may_exchange`: nodes may read and write for each other.
std::vector<std::string> aggregator_lines(const std::string& path,
                                          std::span<const AggregatorNode> nodes,
                                          const DomainHints& domains, bool may_exchange);

/// Collective: what aggregator_lines() needs, on the first rank; nothing on the others. `places`:
/// of this rank's node.
std::vector<AggregatorNode> gather_nodes(exchange::FileChannel& channel, int places);

}  // namespace headrace::file
