#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/aggregators.h"
#include "plan/domains.h"
#include "simulate/costs.h"
#include "simulate/storage.h"
#include "simulate/workload.h"

namespace headrace::simulate {

/// How the bytes get to the file.
struct Method {
  std::string name;
  bool is_direct = false;  ///< each rank writes its own pieces
  plan::Alignment alignment = plan::Alignment::persistent;
  bool locks_ahead = false;
};

struct System {
  Stripes stripes;
  ByteCount server_block = 0;
  ByteCount buffer = 0;  ///< of an aggregator
  plan::AggregatorHints hint;
  Costs costs = kDefaultCosts;
};

/// What a collective write did.
struct Outcome {
  std::int64_t aggregators = 0;
  ByteCount window = 0;
  std::int64_t rounds = 0;    ///< of all calls
  std::int64_t messages = 0;  ///< between nodes: one for a pair of nodes and window
  ByteCount message_bytes = 0;
  std::int64_t most_messages_of_node = 0;  ///< that one node receives
  ByteCount most_bytes_of_node = 0;
  StorageCounts storage;
  ByteCount plan_bytes_of_rank = 0;  ///< memory for planning
  ByteCount plan_bytes_of_leader = 0;
  ByteCount buffer_bytes_of_aggregator = 0;
  double seconds = 0;  ///< estimated from the counts
};

Outcome simulate(const Workload& workload, const System& system, const Method& method);

/// What the leader of a node does to know its part of a call: a few numbers for each aggregator.
/// Returns the windows that it sends parts of.
std::int64_t plan_one_call(const plan::DomainRule& rule, const Workload& workload,
                           std::int64_t node);

plan::AggregatorChoice aggregators_of(const Workload& workload, const System& system);
plan::DomainRule rule_of(const System& system, const Method& method, int aggregators);

}  // namespace headrace::simulate
