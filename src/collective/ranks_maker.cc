#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/fingerprint.h"
#include "collective/ranks.h"
#include "collective/requirements.h"
#include "fabric/combined.h"
#include "topo/node.h"
#include "topo/spare_cores.h"

namespace headrace::collective {
namespace {

constexpr int kSetupTag = 1;  // a kind of the channel's tags; 0 is its own

/// A number that is the same where the same was measured.
std::int64_t print_of(const std::optional<Measured>& measured) {
  Fingerprint print;
  if (!measured) return print.value();
  print.add(static_cast<std::int64_t>(measured->library));
  for (const Use& use : measured->uses) {
    print.add(static_cast<std::int64_t>(use.library));
    print.add(static_cast<std::int64_t>(use.operation));
    print.add(use.nodes.nodes);
    print.add(use.nodes.ranks);
    print.add(use.nodes.is_crowded ? 1 : 0);
    print.add(static_cast<std::int64_t>(use.least));
    print.add(static_cast<std::int64_t>(use.most));
  }
  return print.value();
}

/// Collective: an error on all ranks where they would choose differently.
Error compare(fabric::Channel& channel, const std::optional<Measured>& measured) {
  fabric::Greatest greatest{print_of(measured)};
  fabric::Greatest least{-greatest.value};
  if (Error error = channel.combine(greatest)) return error;
  if (Error error = channel.combine(least)) return error;
  if (greatest.value == -least.value) return {};
  return {ErrorClass::not_same, 0,
          "the ranks have different tables (HEADRACE_COLL_TABLE), let all read the same file"};
}

/// Where each node has one rank there is nothing to put together: only such calls may gain.
bool may_gain_alone(const std::optional<Measured>& measured) {
  return !measured || std::ranges::any_of(measured->uses, [&](const Use& use) {
    const bool is_one =
        use.operation == Operation::alltoallv || use.operation == Operation::alltoallw;
    return is_one && use.library == measured->library && use.nodes.nodes != 1;
  });
}

/// Collective: whether ranks outnumber cores on one of the nodes; also ranks of the job that are
/// not in the communicator.
Result<bool> is_any_crowded(fabric::Channel& channel) {
  const bool is_crowded = channel.is_crowded() || topo::ranks_on_node() > topo::node_cores();
  fabric::Greatest crowded{is_crowded ? 1 : 0};
  if (Error error = channel.combine(crowded)) return error;
  return crowded.value != 0;
}

}  // namespace

Result<std::unique_ptr<Ranks>> Ranks::create(std::shared_ptr<fabric::Team> team,
                                             const std::optional<Measured>& measured,
                                             const Error& refused) {
  if (Error error = team->agree(refused)) return error;
  auto channel = team->open_channel<fabric::Channel>();
  if (!channel) return channel.error();
  fabric::Channel& own = *channel.value();
  if (Error error = compare(own, measured)) return error;
  const Result<bool> is_crowded = measured ? is_any_crowded(own) : Result<bool>(false);
  if (!is_crowded) return is_crowded.error();
  const int tag = own.tag(kSetupTag);
  std::vector<int> on_node;
  const Result<NodeTables> tables = gather_tables(own, tag, on_node);
  // A message between leaders may have failed.
  if (Error error = team->agree(tables ? Error() : tables.error())) return error;
  if (tables.value().largest_node == 1 && !may_gain_alone(measured)) {
    return Error{ErrorClass::other, 0, kNoneShares};
  }
  auto memory = StageMemory::make(own, tag, on_node, tables.value());
  if (!memory) return memory.error();
  std::unique_ptr<Ranks> made;
  const Error lacking = attempt([&]() -> Error {
    made.reset(new Ranks(std::move(channel.value()), std::move(memory.value()), measured,
                         is_crowded.value()));
    return {};
  });
  // Also: all milestones are set.
  if (Error error = team->agree(lacking)) return error;
  // The memory is for others.
  if (made->carried_ == 0) return Error{ErrorClass::other, 0, made->why_left(kAnyOperation)};
  return made;
}

}  // namespace headrace::collective
