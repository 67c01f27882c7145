#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <set>
#include <utility>

#include "base/settings.h"
#include "exchange/file_team.h"
#include "file/file.h"
#include "plan/exchange_plan.h"
#include "policy/slot_count.h"
#include "sim/ranks.h"
#include "topo/node.h"

namespace headrace::sim {

inline constexpr ByteCount kPiece = 10'000;
inline constexpr ByteCount kWindow = 65'536;

/// Ranks whose pieces take turns in the file.
struct Job {
  int nodes = 1;
  int ranks_per_node = 1;
  std::int64_t pieces = 0;  ///< of each rank
  bool in_blocks = true;    ///< neighbours in rank order share a node
  int aggregators = 1;      ///< of each node

  int ranks() const { return nodes * ranks_per_node; }
  int node_of(int rank) const { return in_blocks ? rank / ranks_per_node : rank % nodes; }
  ByteCount bytes() const { return ranks() * pieces * kPiece; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (int rank = 0; rank < ranks(); ++rank) names.push_back(std::to_string(node_of(rank)));
    return names;
  }

  static std::uint8_t value(FileOffset at) {
    return static_cast<std::uint8_t>((at * 2654435761U) >> 13);
  }
  Bytes data(int rank) const {
    Bytes data;
    for (std::int64_t i = 0; i < pieces * kPiece; ++i) {
      const std::int64_t piece = i / kPiece * ranks() + rank;
      data.push_back(value(piece * kPiece + i % kPiece));
    }
    return data;
  }

  /// Windows that follow one another and have one owner: reads go by two, or by even
  /// shares of fewer.
  std::int64_t run(Direction direction) const {
    if (direction == Direction::write) return 1;
    const std::int64_t windows = (bytes() + kWindow - 1) / kWindow;
    const std::int64_t owners = std::int64_t{nodes} * aggregators;
    return std::clamp<std::int64_t>((windows + owners - 1) / owners, 1, 2);
  }

  /// What is written goes by two windows a message where a node has buffers for two of each owner.
  std::int64_t joined_within(Direction direction) const {
    if (direction == Direction::read) return 0;
    const bool is_crowded = ranks_per_node > topo::node_cores();
    const std::int64_t slots = settings().buffer_count > 0
                                   ? settings().buffer_count
                                   : policy::slots_for_ranks(nodes, ranks_per_node, is_crowded);
    const std::int64_t two_of_each = std::int64_t{2} * nodes * aggregators;
    return two_of_each <= slots ? two_of_each : 0;
  }

  plan::ExchangePlan plan(Direction direction) const {
    std::vector<plan::RankRange> ranges(static_cast<std::size_t>(nodes));
    for (int rank = 0; rank < ranks(); ++rank) {
      plan::RankRange& range = ranges[static_cast<std::size_t>(node_of(rank))];
      const FileOffset begin = rank * kPiece;
      if (range.bytes == 0) range.begin = begin;
      range.end = std::max(range.end, bytes() - (ranks() - 1 - rank) * kPiece);
      range.bytes += pieces * kPiece;
    }
    std::vector<int> owners;
    for (int i = 0; i < aggregators * nodes; ++i) owners.push_back(i % nodes);
    return {ranges, kWindow, plan::Owners(owners, run(direction), 0), aggregators,
            joined_within(direction)};
  }
  /// What nodes have in windows of others.
  struct Payload {
    ByteCount bytes = 0;
    std::set<std::pair<int, std::int64_t>> parts;  ///< node and window
  };
  Payload payload(Direction direction) const {
    const plan::ExchangePlan plan = this->plan(direction);
    Payload payload;
    for (FileOffset at = 0; at < bytes(); at += kPiece) {
      const int node = node_of(static_cast<int>(at / kPiece % ranks()));
      for (FileOffset begin = at; begin < at + kPiece;) {
        const FileOffset end = std::min(at + kPiece, (begin / kWindow + 1) * kWindow);
        const std::int64_t window = plan.windows().window_of(begin);
        if (plan.owner_of(window) != node) {
          payload.bytes += end - begin;
          payload.parts.emplace(node, window);
        }
        begin = end;
      }
    }
    return payload;
  }
};

inline const file::Hints kExchanged{{"headrace_write_path", "exchanged"},
                                    {"headrace_read_path", "exchanged"},
                                    {"cb_buffer_size", std::to_string(kWindow)},
                                    {"striping_unit", std::to_string(kWindow)}};

inline file::Hints hints_of(const Job& job) {
  file::Hints hints = kExchanged;
  if (job.aggregators > 1) hints["cb_nodes"] = std::to_string(job.nodes * job.aggregators);
  return hints;
}

inline std::unique_ptr<file::File> open(const Job& job, int rank,
                                        const std::shared_ptr<exchange::FileTeam>& team,
                                        storage::FileSystem& files, const file::Hints& hints,
                                        bool can_read = true) {
  auto file = file::File::open(team, files, "file",
                               {.read = can_read, .write = true, .create = true}, hints);
  EXPECT_TRUE(file);
  const view::TypePtr byte = view::make_basic(1);
  const view::TypePtr piece =
      view::make_resized(view::make_contiguous(kPiece, byte), 0, kPiece * job.ranks());
  EXPECT_FALSE(file.value()->set_view(file::View{rank * kPiece, byte, piece, "native"}));
  return std::move(file.value());
}

inline file::Outcome move(file::File& file, Direction direction, Bytes& data) {
  return file.transfer({direction, true, 0, data.data(), std::ssize(data), view::make_basic(1)});
}

/// What the ranks' messages were in one call. Where they verify, parts and answers only.
struct Counted {
  std::int64_t messages = 0;
  ByteCount bytes = 0;
};

struct Meter {
  Meter(PostOffice& post_office, int ranks) : office(post_office), barrier(ranks) {}

  /// Calls `action` on all ranks and counts their messages; on the first rank.
  template <class Action>
  Counted count(int rank, Action action) {
    barrier.arrive_and_wait();
    if (rank == 0) before = of_exchange();
    barrier.arrive_and_wait();
    action();
    barrier.arrive_and_wait();
    const Counted after = of_exchange();
    const Counted counted{after.messages - before.messages, after.bytes - before.bytes};
    barrier.arrive_and_wait();
    return counted;
  }

  /// So far. Ranks that verify use the channel's own tag, as leaders do that meet.
  Counted of_exchange() const {
    const int first_tag = settings().verify ? fabric::kMaxChannels : 0;
    return {office.messages(first_tag), office.bytes(first_tag)};
  }

  PostOffice& office;
  std::barrier<> barrier;
  Counted before;
};

}  // namespace headrace::sim
