#include "exchange/team.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>

#include "base/settings.h"
#include "exchange/messages.h"
#include "exchange/node_team.h"

namespace headrace::exchange {
namespace {

constexpr int kRootTag = 0;

/// Ranks of each node, in rank order; nodes in the order of their first ranks.
using Nodes = std::vector<std::vector<int>>;

Result<Nodes> find_nodes(Messenger& messenger, const std::string& node) {
  // Names are compared by two independent hashes: 128 bits a rank to exchange.
  const std::uint64_t mine[2] = {std::hash<std::string>{}(node),
                                 std::hash<std::string>{}("headrace" + node)};
  Result<std::vector<std::byte>> all =
      allgather(messenger, kRootTag, std::as_bytes(std::span(mine)));
  if (!all) return all.error();
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> index;
  Nodes nodes;
  for (int rank = 0; rank < messenger.size(); ++rank) {
    std::uint64_t key[2];
    std::memcpy(key, all.value().data() + static_cast<std::size_t>(rank) * sizeof key, sizeof key);
    const auto [entry, is_new] = index.try_emplace({key[0], key[1]}, nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[entry->second].push_back(rank);
  }
  return nodes;
}

struct Shared {
  std::unique_ptr<SharedMemory> memory;
  std::string failure;
  std::string how;  ///< or why not, for people
};

bool is_allowed(SharedMemoryKind kind) {
  switch (settings().shared_memory) {
    case SharedMemorySetting::automatic: return true;
    case SharedMemorySetting::memfd: return kind == SharedMemoryKind::memfd;
    case SharedMemorySetting::posix: return kind == SharedMemoryKind::posix;
    case SharedMemorySetting::none: break;
  }
  return false;
}

/// Collective over the node's ranks: the first makes memory of a kind if its settings allow it, the
/// others open it. All get it or nobody does.
Result<Shared> share(Messenger& messenger, const std::vector<int>& ranks, SharedMemoryKind kind,
                     std::size_t size, std::size_t committed) {
  const bool leads = messenger.rank() == ranks.front();
  Shared mine;
  SharedMemoryTicket ticket;
  const auto keep = [&](Result<std::unique_ptr<SharedMemory>> made) {
    if (made) {
      mine.memory = std::move(made.value());
    } else {
      mine.failure = made.error().message;
    }
  };
  if (leads && !is_allowed(kind)) {
    mine.failure = "switched off by HEADRACE_SHARED_MEMORY";
  } else if (leads) {
    keep(SharedMemory::make(kind, size));
    if (mine.memory && !mine.memory->commit(0, committed)) {
      keep(system_failure(ENOSPC, "cannot get shared memory"));
    }
    if (mine.memory && mine.failure.empty()) ticket = mine.memory->ticket();
  }
  const int index = static_cast<int>(std::ranges::find(ranks, messenger.rank()) - ranks.begin());
  // A ticket without a process means that there is nothing.
  if (Error error = broadcast(messenger, kRootTag, ranks, index,
                              std::as_writable_bytes(std::span(&ticket, 1)))) {
    return error;
  }
  if (!leads && ticket.process != 0) keep(SharedMemory::open(ticket));
  std::byte failed{mine.memory && mine.failure.empty() ? std::uint8_t{0} : std::uint8_t{1}};
  const auto any = [](std::span<std::byte> into, std::span<const std::byte> from) {
    into[0] |= from[0];
  };
  if (Error error = reduce_to_all(messenger, kRootTag, ranks, index, std::span(&failed, 1), any)) {
    return error;
  }
  if (mine.memory) mine.memory->unlink();
  if (failed != std::byte{0}) {
    mine.memory.reset();
    if (mine.failure.empty()) mine.failure = "another rank of the node cannot share memory";
  }
  return mine;
}

Result<Shared> share_by_any_kind(Messenger& messenger, const std::vector<int>& ranks,
                                 std::size_t size, std::size_t committed) {
  Result<Shared> first = share(messenger, ranks, SharedMemoryKind::memfd, size, committed);
  if (!first) return first;
  if (first.value().memory) {
    first.value().how = "memfd";
    return first;
  }
  Result<Shared> second = share(messenger, ranks, SharedMemoryKind::posix, size, committed);
  if (!second) return second;
  Shared& shared = second.value();
  shared.how = shared.memory
                   ? "posix, no memfd: " + first.value().failure
                   : "none, no memfd: " + first.value().failure + "; no posix: " + shared.failure;
  return second;
}

/// Collective: splits the nodes that could not share memory into single ranks.
Result<Nodes> split_failed(Messenger& messenger, const Nodes& nodes, bool failed) {
  const std::byte mine{failed ? std::uint8_t{1} : std::uint8_t{0}};
  Result<std::vector<std::byte>> all = allgather(messenger, kRootTag, std::span(&mine, 1));
  if (!all) return all.error();
  Nodes split;
  for (const std::vector<int>& ranks : nodes) {
    const bool alone = std::ranges::any_of(ranks, [&](int rank) {
      return all.value()[static_cast<std::size_t>(rank)] != std::byte{0};
    });
    if (!alone) {
      split.push_back(ranks);
    } else {
      for (const int rank : ranks) split.push_back({rank});
    }
  }
  return split;
}

const std::vector<int>& node_of(const Nodes& nodes, int rank) {
  return *std::ranges::find_if(nodes, [rank](const std::vector<int>& ranks) {
    return std::ranges::binary_search(ranks, rank);
  });
}

}  // namespace

Result<std::shared_ptr<Team>> Team::create(std::unique_ptr<Messenger> messenger,
                                           const std::string& node) {
  Result<Nodes> found = find_nodes(*messenger, node);
  if (!found) return found.error();
  Nodes nodes = std::move(found.value());
  const int rank = messenger->rank();
  const auto slot_bytes = static_cast<std::size_t>(settings().node_memory);
  Shared shared;
  shared.how = "none, no other rank of the file is on the node";
  if (messenger->size() > 1) {
    const std::vector<int>& mine = node_of(nodes, rank);
    if (mine.size() > 1) {
      const MemoryLayout layout(static_cast<int>(mine.size()), slot_bytes);
      Result<Shared> result =
          share_by_any_kind(*messenger, mine, layout.total(), layout.channel_offset(1));
      if (!result) return result.error();
      shared = std::move(result.value());
    }
    Result<Nodes> split = split_failed(*messenger, nodes, mine.size() > 1 && !shared.memory);
    if (!split) return split.error();
    nodes = std::move(split.value());
  }
  std::vector<int> leaders;
  for (const std::vector<int>& ranks : nodes) leaders.push_back(ranks.front());
  std::vector<int> node_ranks = node_of(nodes, rank);
  auto team =
      std::make_shared<NodeTeam>(std::move(messenger), std::move(node_ranks), std::move(leaders),
                                 std::move(shared.memory), slot_bytes, std::move(shared.how));
  if (Error error = team->find_shared_pointers(kRootTag)) return error;
  team->open_root();
  return std::shared_ptr<Team>(team);
}

}  // namespace headrace::exchange
