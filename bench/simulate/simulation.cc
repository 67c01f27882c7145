#include "simulate/simulation.h"

#include <algorithm>

namespace headrace::simulate {
namespace {

/// Buffers of an aggregator: while one is written, the next is filled.
constexpr int kBuffers = 2;

/// A file's objects, and what writers of a call wait for.
class File {
 public:
  File(const System& system, bool locks_ahead)
      : system_(system),
        objects_(static_cast<std::size_t>(system.stripes.count),
                 Object(system.server_block, locks_ahead)),
        waited_before_(objects_.size()) {}

  void write(std::int64_t node, plan::FileRange range) {
    const ByteCount stripe = system_.stripes.size;
    while (range.begin < range.end) {
      const std::int64_t number = range.begin / stripe;
      const FileOffset end = std::min(range.end, (number + 1) * stripe);
      const FileOffset begin = number / system_.stripes.count * stripe + range.begin % stripe;
      const auto object = static_cast<std::size_t>(number % system_.stripes.count);
      objects_[object].write(static_cast<int>(node), begin, begin + (end - range.begin));
      touched_.push_back(object);
      range.begin = end;
    }
  }

  /// Seconds that the slowest writer of the call waited.
  double end_call() {
    double slowest = 0;
    for (const std::size_t object : touched_) {
      const double now = waiting_time(objects_[object].waited_for());
      slowest = std::max(slowest, now - waited_before_[object]);
    }
    for (const std::size_t object : touched_) {
      waited_before_[object] = waiting_time(objects_[object].waited_for());
    }
    touched_.clear();
    return slowest;
  }

  /// Ends the file; seconds that the busiest object is written in.
  double close(StorageCounts& all) {
    double busiest = 0;
    for (Object& object : objects_) {
      object.close();
      const StorageCounts& counts = object.counts();
      all.lock_grants += counts.lock_grants;
      all.lock_transfers += counts.lock_transfers;
      all.requests += counts.requests;
      all.read_modify_writes += counts.read_modify_writes;
      all.bytes += counts.bytes;
      busiest = std::max(busiest, writing_time(counts) - writing_time(object.waited_for()));
    }
    return busiest;
  }

 private:
  double cost(std::size_t index) const { return system_.costs[index].value; }
  double writing_time(const StorageCounts& counts) const {
    return static_cast<double>(counts.bytes) / cost(2) +
           static_cast<double>(counts.read_modify_writes) * cost(4);
  }
  double waiting_time(const StorageCounts& counts) const {
    return writing_time(counts) + static_cast<double>(counts.lock_transfers) * cost(3) * cost(0);
  }

  const System& system_;
  std::vector<Object> objects_;
  std::vector<double> waited_before_;
  std::vector<std::size_t> touched_;
};

/// Messages and bytes that nodes receive.
class Network {
 public:
  explicit Network(std::int64_t nodes)
      : messages_(static_cast<std::size_t>(nodes)), bytes_(static_cast<std::size_t>(nodes)) {}

  void send(std::int64_t to, ByteCount bytes) {
    messages_[static_cast<std::size_t>(to)] += 1;
    bytes_[static_cast<std::size_t>(to)] += bytes;
  }

  /// Seconds of the node that receives most.
  double finish(const Costs& costs, Outcome& outcome) const {
    double slowest = 0;
    for (std::size_t node = 0; node < messages_.size(); ++node) {
      outcome.messages += messages_[node];
      outcome.message_bytes += bytes_[node];
      outcome.most_messages_of_node = std::max(outcome.most_messages_of_node, messages_[node]);
      outcome.most_bytes_of_node = std::max(outcome.most_bytes_of_node, bytes_[node]);
      slowest = std::max(slowest, static_cast<double>(messages_[node]) * costs[0].value +
                                      static_cast<double>(bytes_[node]) / costs[1].value);
    }
    return slowest;
  }

 private:
  std::vector<std::int64_t> messages_;
  std::vector<ByteCount> bytes_;
};

/// Parts of a window that nodes send to the one that writes it.
void send_parts(const Workload& workload, plan::FileRange range, std::int64_t to,
                Network& network) {
  const ByteCount chunk = workload.ranks_per_node * workload.piece;
  const bool holds_row = range.end - range.begin >= workload.row();
  const std::int64_t first = holds_row ? 0 : range.begin % workload.row() / chunk;
  for (std::int64_t i = 0; i < workload.nodes(); ++i) {
    const std::int64_t node = (first + i) % workload.nodes();
    const ByteCount bytes =
        workload.node_bytes_below(node, range.end) - workload.node_bytes_below(node, range.begin);
    if (bytes == 0) break;  // nodes' bytes lie in their order: no further one has any
    if (node != to) network.send(to, bytes);
  }
}

/// All nodes write at the same time: their pieces come in turn.
void write_directly(const Workload& workload, std::int64_t call, File& file) {
  const FileOffset begin = workload.hull(call).begin;
  for (std::int64_t piece = 0; piece < workload.pieces; ++piece) {
    for (std::int64_t local = 0; local < workload.ranks_per_node; ++local) {
      for (std::int64_t node = 0; node < workload.nodes(); ++node) {
        if (local >= workload.ranks_on(node)) continue;
        const std::int64_t rank = node * workload.ranks_per_node + local;
        const FileOffset at = begin + piece * workload.row() + rank * workload.piece;
        file.write(node, {at, at + workload.piece});
      }
    }
  }
}

/// Round by round, aggregators at the same time.
void write_collectively(const Workload& workload, const plan::DomainMap& map,
                        const std::vector<plan::Aggregator>& aggregators, File& file,
                        Network& network) {
  for (std::int64_t round = 0; round < map.rounds(); ++round) {
    for (int aggregator = 0; aggregator < map.aggregators(); ++aggregator) {
      if (round >= map.rounds(aggregator)) continue;
      const plan::FileRange range = map.touched(round, aggregator);
      const int node = aggregators[static_cast<std::size_t>(aggregator)].node;
      send_parts(workload, range, node, network);
      file.write(node, range);
    }
  }
}

}  // namespace

plan::AggregatorChoice aggregators_of(const Workload& workload, const System& system) {
  std::vector<int> places;
  for (std::int64_t node = 0; node < workload.nodes(); ++node) {
    places.push_back(static_cast<int>(workload.ranks_on(node)));
  }
  return plan::choose_aggregators(places, system.stripes.count, system.hint);
}

plan::DomainRule rule_of(const System& system, const Method& method, int aggregators) {
  plan::DomainRule rule{method.alignment, system.stripes.size, system.stripes.count, 1,
                        aggregators};
  rule.window_size = plan::domain_window(system.buffer, system.buffer, rule);
  return rule;
}

std::int64_t plan_one_call(const plan::DomainRule& rule, const Workload& workload,
                           std::int64_t node) {
  const plan::DomainMap map(rule, workload.hull(0));
  const FileOffset begin = node * workload.ranks_per_node * workload.piece;
  const FileOffset last = begin + (workload.pieces - 1) * workload.row();
  std::int64_t windows = 0;
  for (int aggregator = 0; aggregator < map.aggregators(); ++aggregator) {
    const plan::Rounds rounds =
        map.meeting(aggregator, {begin, last + workload.ranks_on(node) * workload.piece});
    windows += rounds.last - rounds.first;
  }
  return windows;
}

Outcome simulate(const Workload& workload, const System& system, const Method& method) {
  Outcome outcome;
  File file(system, method.locks_ahead);
  Network network(workload.nodes());
  double waited = 0;
  const plan::AggregatorChoice choice = aggregators_of(workload, system);
  const auto count = static_cast<int>(choice.aggregators.size());
  const plan::DomainRule rule = rule_of(system, method, count);
  for (std::int64_t call = 0; call < workload.calls; ++call) {
    if (method.is_direct) {
      write_directly(workload, call, file);
    } else {
      const plan::DomainMap map(rule, workload.hull(call));
      outcome.rounds += map.rounds();
      write_collectively(workload, map, choice.aggregators, file, network);
    }
    waited += file.end_call();
  }
  const double busy = file.close(outcome.storage);
  const double sending = network.finish(system.costs, outcome);
  outcome.seconds = std::max(busy, sending) + waited;
  if (!method.is_direct) {
    outcome.aggregators = count;
    outcome.window = rule.window_size;
    outcome.plan_bytes_of_rank = sizeof(plan::DomainMap);
    // A leader knows who the aggregators are, and between which bytes each node's data lies.
    outcome.plan_bytes_of_leader =
        static_cast<ByteCount>(sizeof(plan::DomainMap)) +
        std::ssize(choice.aggregators) * static_cast<ByteCount>(sizeof(plan::Aggregator)) +
        workload.nodes() * static_cast<ByteCount>(sizeof(plan::RankRange));
    outcome.buffer_bytes_of_aggregator = kBuffers * rule.window_size;
  }
  return outcome;
}

}  // namespace headrace::simulate
