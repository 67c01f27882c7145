#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/settings.h"
#include "fabric/combining.h"
#include "fabric/messages.h"
#include "fabric/node_sharing.h"
#include "fabric/team.h"

// How the ranks of a communicator become a team.

namespace headrace::fabric {
namespace {

constexpr int kRootTag = 0;

/// Ranks of each node, in rank order; nodes in the order of their first ranks.
using Nodes = std::vector<std::vector<int>>;

/// What the ranks tell each other. Each rank takes the memory before any of them begins: if one
/// lacked it later, the others would wait for ever.
class Gathered {
 public:
  /// Throws std::bad_alloc.
  explicit Gathered(int ranks)
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

/// Groups ranks by the two words that each has told.
Nodes nodes_of(const Gathered& gathered, int ranks) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> index;
  Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    std::uint64_t key[2];
    std::memcpy(key, gathered.all() + static_cast<std::size_t>(rank) * sizeof key, sizeof key);
    const auto [entry, is_new] = index.try_emplace({key[0], key[1]}, nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[entry->second].push_back(rank);
  }
  return nodes;
}

/// Flags that each rank tells after the nodes have tried to share memory.
constexpr std::byte kSharesNothing{1};
constexpr std::byte kHasNoRoom{2};

bool any_gave(std::span<const int> ranks, const Gathered& gathered, std::byte what) {
  return std::ranges::any_of(
      ranks, [&](int rank) { return (gathered.all()[rank] & what) != std::byte{0}; });
}

bool is_alone(const std::vector<int>& ranks, const Gathered& gathered) {
  return any_gave(ranks, gathered, kSharesNothing);
}

/// Splits the nodes that could not share memory into single ranks.
Nodes split_failed(const Nodes& nodes, const Gathered& gathered) {
  Nodes split;
  for (const std::vector<int>& ranks : nodes) {
    if (!is_alone(ranks, gathered)) {
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

/// Makes a team. What a rank does by itself may fail for lack of memory. It still takes part in the
/// collective steps, and the ranks agree on failures at the end of each part.
class TeamMaker {
 public:
  TeamMaker(std::unique_ptr<Messenger> messenger, const std::string& node,
            const ChannelNeeds& needs, bool has_room)
      : messenger_(std::move(messenger)), node_(node), needs_(needs), has_room_(has_room) {}

  Result<std::shared_ptr<Team>> make();

 private:
  /// Collective: this rank's error, or that of another.
  Error agree(const Error& mine) {
    return agree_on_memory(mine, [this](bool is_ready) {
      return is_true_everywhere(*messenger_, kRootTag, is_ready);
    });
  }
  Error find_nodes();
  Error share();
  Error find_who_may_send();
  void make_team();
  MemoryLayout layout(std::size_t node_size) const;
  bool is_one_node() const {
    return nodes_.size() == 1 && (size() == 1 || !is_alone(nodes_.front(), *gathered_));
  }
  int rank() const { return messenger_->rank(); }
  int size() const { return messenger_->size(); }

  std::unique_ptr<Messenger> messenger_;
  const std::string& node_;
  const ChannelNeeds& needs_;
  const bool has_room_;
  std::optional<Gathered> gathered_;
  Nodes nodes_;
  std::size_t reservable_ = 0;
  NodeSharing sharing_;
  bool helpers_send_ = false;
  std::shared_ptr<Team> team_;
};

Error TeamMaker::find_nodes() {
  Error failed = attempt([&]() -> Error {
    reservable_ = static_cast<std::size_t>(settings().node_memory);
    gathered_.emplace(size());
    return {};
  });
  // Ranks compare names by two independent hashes: each rank sends 128 bits.
  std::uint64_t mine[2] = {};
  if (!failed) {
    failed = attempt([&]() -> Error {
      mine[0] = std::hash<std::string>{}(node_);
      mine[1] = std::hash<std::string>{}("headrace" + node_);
      return {};
    });
  }
  if (Error error = agree(failed)) return error;
  if (Error error = gathered_->gather(*messenger_, std::as_bytes(std::span(mine)))) return error;
  return agree(attempt([&]() -> Error {
    nodes_ = nodes_of(*gathered_, size());
    return {};
  }));
}

/// The layout for a node with so many ranks.
MemoryLayout TeamMaker::layout(std::size_t node_size) const {
  return {static_cast<int>(node_size), needs_, reservable_};
}

Error TeamMaker::share() {
  static_cast<void>(attempt([this]() -> Error {
    sharing_.how = "none, no other rank of the file is on the node";
    return {};
  }));
  if (size() == 1) return {};
  const std::vector<int>& mine = node_of(nodes_, rank());
  if (mine.size() > 1) {
    const MemoryLayout layout = this->layout(mine.size());
    // If there is no memory for the first channels, the ranks share nothing.
    Result<NodeSharing> result =
        share_memory(*messenger_, kRootTag, mine, layout.total(), layout.at_once());
    if (!result) return result.error();
    sharing_ = std::move(result.value());
  }
  const bool failed = mine.size() > 1 && !sharing_.memory;
  const std::byte flag =
      (failed ? kSharesNothing : std::byte{0}) | (has_room_ ? std::byte{0} : kHasNoRoom);
  return gathered_->gather(*messenger_, std::span(&flag, 1));
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
  const Nodes nodes = size() == 1 ? nodes_ : split_failed(nodes_, *gathered_);
  const bool may_stay =
      size() == 1 ? has_room_ : !any_gave(gathered_->ranks(), *gathered_, kHasNoRoom);
  Team::Parts parts{.nodes = topo::NodeMap(nodes, rank()),
                    .memory = std::move(sharing_.memory),
                    .layout = layout(node_of(nodes, rank()).size()),
                    .sharing = std::move(sharing_.how),
                    .helpers_send = helpers_send_,
                    .may_stay = may_stay};
  team_ = std::make_shared<Team>(*messenger_, std::move(parts));
  team_->open_root();
}

Result<std::shared_ptr<Team>> TeamMaker::make() {
  if (Error error = find_nodes()) return error;
  if (Error error = share()) return error;
  if (Error error = find_who_may_send()) return error;
  Error failed = attempt([&]() -> Error {
    make_team();
    return {};
  });
  if (Error error = agree(failed)) return error;
  team_->keep(std::move(messenger_));
  return std::shared_ptr<Team>(std::move(team_));
}

Result<std::shared_ptr<Team>> Team::create(std::unique_ptr<Messenger> messenger,
                                           const std::string& node, const ChannelNeeds& needs,
                                           bool has_room) {
  return TeamMaker(std::move(messenger), node, needs, has_room).make();
}

}  // namespace headrace::fabric
