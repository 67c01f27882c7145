#include "exchange/team.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/settings.h"
#include "exchange/messages.h"
#include "exchange/node_team.h"

namespace headrace::exchange {
namespace {

constexpr int kRootTag = 0;

/// Ranks of each node, in rank order; nodes in the order of their first ranks.
using Nodes = std::vector<std::vector<int>>;

/// What the ranks tell each other, in memory that each has before any of them begins: where one
/// lacks it, the others would wait for ever.
class Telling {
 public:
  /// Throws where there is no memory.
  explicit Telling(int ranks)
      : ranks_(static_cast<std::size_t>(ranks)),
        scratch_(kBlock * ranks_.size()),
        all_(kBlock * ranks_.size()) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  Error gather(Messenger& messenger, std::span<const std::byte> mine) {
    const std::size_t bytes = mine.size() * static_cast<std::size_t>(messenger.size());
    return allgather(messenger, kRootTag, ranks_, messenger.rank(), mine,
                     std::span(scratch_).first(bytes), std::span(all_).first(bytes));
  }
  const std::byte* all() const { return all_.data(); }
  std::span<const int> ranks() const { return ranks_; }

 private:
  static constexpr std::size_t kBlock = 2 * sizeof(std::uint64_t);
  std::vector<int> ranks_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> all_;
};

/// From each rank's two words.
Nodes nodes_of(const Telling& told, int ranks) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> index;
  Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    std::uint64_t key[2];
    std::memcpy(key, told.all() + static_cast<std::size_t>(rank) * sizeof key, sizeof key);
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

constexpr const char* kNoMemory = "out of memory";  // so short that it takes none

void set_text(std::string& text, const char* to) {
  if (attempt([&]() -> Error {
        text = to;
        return {};
      })) {
    text = kNoMemory;
  }
}

bool is_allowed(SharedMemoryKind kind) {
  switch (settings().shared_memory) {
    case SharedMemorySetting::automatic: return true;
    case SharedMemorySetting::memfd: return kind == SharedMemoryKind::memfd;
    case SharedMemorySetting::posix: return kind == SharedMemoryKind::posix;
    case SharedMemorySetting::none: break;
  }
  return false;
}

/// Keeps the memory that `make` returns, or why there is none.
template <class Make>
void try_to_keep(Shared& mine, Make make) {
  Error failed = attempt([&]() -> Error {
    Result<std::unique_ptr<SharedMemory>> made = make();
    if (!made) return made.error();
    mine.memory = std::move(made.value());
    return {};
  });
  if (failed) mine.failure = failed.message.empty() ? kNoMemory : std::move(failed.message);
}

/// The first rank's part: memory of a kind, if its settings allow it.
Shared make_shared(SharedMemoryKind kind, std::size_t size, std::size_t committed) {
  Shared mine;
  if (!is_allowed(kind)) {
    set_text(mine.failure, "switched off by HEADRACE_SHARED_MEMORY");
    return mine;
  }
  try_to_keep(mine, [&]() -> Result<std::unique_ptr<SharedMemory>> {
    auto made = SharedMemory::make(kind, size);
    if (made && !made.value()->commit(0, committed)) {
      return system_failure(ENOSPC, "cannot get shared memory");
    }
    return made;
  });
  return mine;
}

/// Collective over the node's ranks; `index` is this one's place: whether all are without failure.
Result<bool> have_all(Messenger& messenger, const std::vector<int>& ranks, int index,
                      const Shared& mine) {
  std::byte failed{mine.memory && mine.failure.empty() ? std::uint8_t{0} : std::uint8_t{1}};
  const auto any = [](std::span<std::byte> into, std::span<const std::byte> from) {
    into[0] |= from[0];
  };
  if (Error error = reduce_to_all(messenger, kRootTag, ranks, index, std::span(&failed, 1), any)) {
    return error;
  }
  return failed == std::byte{0};
}

/// Collective over the node's ranks: the first makes memory of a kind if its settings allow it, the
/// others open it. All get it or nobody does.
Result<Shared> share(Messenger& messenger, const std::vector<int>& ranks, SharedMemoryKind kind,
                     std::size_t size, std::size_t committed) {
  const int index = static_cast<int>(std::ranges::find(ranks, messenger.rank()) - ranks.begin());
  const bool leads = index == 0;
  Shared mine;
  SharedMemoryTicket ticket;
  if (leads) mine = make_shared(kind, size, committed);
  if (mine.memory && mine.failure.empty()) ticket = mine.memory->ticket();
  // A ticket without a process means that there is nothing.
  if (Error error = broadcast(messenger, kRootTag, ranks, index,
                              std::as_writable_bytes(std::span(&ticket, 1)))) {
    return error;
  }
  if (!leads && ticket.process != 0) {
    try_to_keep(mine, [&] { return SharedMemory::open(ticket); });
  }
  const Result<bool> all = have_all(messenger, ranks, index, mine);
  if (!all) return all.error();
  if (mine.memory) mine.memory->unlink();
  if (!all.value()) {
    mine.memory.reset();
    if (mine.failure.empty()) {
      set_text(mine.failure, "another rank of the node cannot share memory");
    }
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
  // Where there is no memory for the text, there is none.
  static_cast<void>(attempt([&]() -> Error {
    shared.how = shared.memory
                     ? "posix, no memfd: " + first.value().failure
                     : "none, no memfd: " + first.value().failure + "; no posix: " + shared.failure;
    return {};
  }));
  return second;
}

bool is_alone(const std::vector<int>& ranks, const Telling& told) {
  return std::ranges::any_of(ranks, [&](int rank) { return told.all()[rank] != std::byte{0}; });
}

/// Splits the nodes that could not share memory, as each rank has told by a byte, into single
/// ranks.
Nodes split_failed(const Nodes& nodes, const Telling& told) {
  Nodes split;
  for (const std::vector<int>& ranks : nodes) {
    if (!is_alone(ranks, told)) {
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

/// Makes a team. What ranks do by themselves may fail for lack of memory: then they go on meeting,
/// with what they have, and agree at the end of each part.
class TeamMaker {
 public:
  TeamMaker(std::unique_ptr<Messenger> messenger, const std::string& node)
      : messenger_(std::move(messenger)), node_(node) {}

  Result<std::shared_ptr<Team>> make();

 private:
  /// Collective: this rank's error, or that of another.
  Error agree(const Error& mine) {
    const Result<bool> all = is_true_everywhere(*messenger_, kRootTag, !mine);
    if (!all) return all.error();
    return mine || all.value() ? mine : out_of_memory();
  }
  Error find_nodes();
  Error share_memory();
  Error find_shared_pointers();
  Error find_who_may_send();
  void make_team();
  bool is_one_node() const {
    return nodes_.size() == 1 && (size() == 1 || !is_alone(nodes_.front(), *told_));
  }
  int rank() const { return messenger_->rank(); }
  int size() const { return messenger_->size(); }

  std::unique_ptr<Messenger> messenger_;
  const std::string& node_;
  std::optional<Telling> told_;
  Nodes nodes_;
  std::size_t slot_bytes_ = 0;
  Shared shared_;
  SharedPointerHome home_;
  std::unique_ptr<SharedPointerService::Host> pointer_host_;
  bool helpers_send_ = false;
  std::shared_ptr<NodeTeam> team_;
};

Error TeamMaker::find_nodes() {
  Error failed = attempt([&]() -> Error {
    slot_bytes_ = static_cast<std::size_t>(settings().node_memory);
    told_.emplace(size());
    return {};
  });
  // Names are compared by two independent hashes: 128 bits a rank to exchange.
  std::uint64_t mine[2] = {};
  if (!failed) {
    failed = attempt([&]() -> Error {
      mine[0] = std::hash<std::string>{}(node_);
      mine[1] = std::hash<std::string>{}("headrace" + node_);
      return {};
    });
  }
  if (Error error = agree(failed)) return error;
  if (Error error = told_->gather(*messenger_, std::as_bytes(std::span(mine)))) return error;
  return agree(attempt([&]() -> Error {
    nodes_ = nodes_of(*told_, size());
    return {};
  }));
}

Error TeamMaker::share_memory() {
  static_cast<void>(attempt([this]() -> Error {
    shared_.how = "none, no other rank of the file is on the node";
    return {};
  }));
  if (size() == 1) return {};
  const std::vector<int>& mine = node_of(nodes_, rank());
  if (mine.size() > 1) {
    const MemoryLayout layout(static_cast<int>(mine.size()), slot_bytes_);
    // Where there is none for a file, ranks had better share nothing.
    Result<Shared> result = share_by_any_kind(*messenger_, mine, layout.total(),
                                              layout.channel_offset(MemoryLayout::kChannelsAtOnce));
    if (!result) return result.error();
    shared_ = std::move(result.value());
  }
  const bool failed = mine.size() > 1 && !shared_.memory;
  const std::byte flag{failed ? std::uint8_t{1} : std::uint8_t{0}};
  return told_->gather(*messenger_, std::span(&flag, 1));
}

/// Collective: where there are several nodes, the first rank lets the others move its shared
/// pointers, and tells them how it is found.
Error TeamMaker::find_shared_pointers() {
  if (is_one_node()) return {};
  Error failed;
  if (rank() == 0 && settings().listen) {
    failed = attempt([&]() -> Error {
      pointer_host_ = std::make_unique<SharedPointerService::Host>(
          SharedPointerService::of_process(), MemoryLayout::kMostChannels);
      home_ = pointer_host_->home();
      return {};
    });
    if (failed) home_.system_error = ENOMEM;
  }
  return broadcast(*messenger_, kRootTag, told_->ranks(), rank(),
                   std::as_writable_bytes(std::span(&home_, 1)));
}

/// Collective: whether helper threads of all ranks may send messages.
Error TeamMaker::find_who_may_send() {
  if (is_one_node()) return {};
  const Result<bool> all =
      is_true_everywhere(*messenger_, kRootTag, messenger_->serves_any_thread());
  if (!all) return all.error();
  helpers_send_ = all.value();
  return {};
}

void TeamMaker::make_team() {
  Nodes nodes = size() == 1 ? nodes_ : split_failed(nodes_, *told_);
  NodeTeam::Parts parts;
  for (const std::vector<int>& ranks : nodes) {
    parts.leaders.push_back(ranks.front());
    for (std::size_t i = 1; i < kMostLeaders; ++i) {
      parts.further_leaders.push_back(i < ranks.size() ? ranks[i] : -1);
    }
  }
  parts.node_ranks = node_of(nodes, rank());
  parts.slot_bytes = slot_bytes_;
  parts.sharing = std::move(shared_.how);
  parts.memory = std::move(shared_.memory);
  parts.pointer_host = std::move(pointer_host_);
  parts.helpers_send = helpers_send_;
  team_ = std::make_shared<NodeTeam>(*messenger_, home_, std::move(parts));
  team_->open_root();
}

Result<std::shared_ptr<Team>> TeamMaker::make() {
  if (Error error = find_nodes()) return error;
  if (Error error = share_memory()) return error;
  if (Error error = find_shared_pointers()) return error;
  if (Error error = find_who_may_send()) return error;
  Error failed = attempt([&]() -> Error {
    make_team();
    return {};
  });
  if (Error error = agree(failed)) return error;
  team_->keep(std::move(messenger_));
  return std::shared_ptr<Team>(std::move(team_));
}

}  // namespace

Result<std::shared_ptr<Team>> Team::create(std::unique_ptr<Messenger> messenger,
                                           const std::string& node) {
  return TeamMaker(std::move(messenger), node).make();
}

}  // namespace headrace::exchange
