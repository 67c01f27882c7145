// Where ranks carry out what was measured, and what is said where they do not.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "collective/ranks.h"
#include "sim/mailbox.h"
#include "topo/node.h"

namespace headrace::collective {
namespace {

constexpr const char* kElsewhere =
    "it was measured to be slower, but on other numbers of nodes and of their ranks";
constexpr const char* kNot = "it was not measured to be slower";

/// What is said of an allgather of 8 bytes on such nodes where `use` was measured; "" where it is
/// carried out.
std::string said_of(const std::vector<std::string>& nodes, const Use& use) {
  sim::PostOffice office(static_cast<int>(nodes.size()));
  std::vector<std::string> said(nodes.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const Measured measured{Library::mpich, {&use, 1}};
      auto team = fabric::Team::create(
          std::make_unique<sim::MailboxMessenger>(office, static_cast<int>(rank)), nodes[rank], {});
      auto ranks = Ranks::create(std::move(team.value()), measured);
      if (!ranks) {
        said[rank] = ranks.error().message;
        return;
      }
      Call call;
      call.operation = Operation::allgather;
      call.bytes = call.blocks.size = call.blocks.distance = 8;
      const Ranks::Prepared& prepared = ranks.value()->prepare(call);
      EXPECT_EQ(prepared.algorithm == nullptr, prepared.obstacle != nullptr);
      EXPECT_EQ(prepared.use, prepared.obstacle == nullptr ? &use : nullptr);
      if (prepared.obstacle != nullptr) said[rank] = prepared.obstacle;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : said) EXPECT_EQ(one, said[0]);
  return said[0];
}

bool is_crowded(int ranks) {
  return ranks > topo::node_cores();
}

Use measured_on(const MeasuredNodes& nodes) {
  return {Library::mpich, Operation::allgather, nodes, 1, 64, 1.5};
}

TEST(WhereMeasured, IsOnSuchNodes) {
  const bool crowded = is_crowded(2);
  const Use use = measured_on({2, 2, crowded});
  EXPECT_EQ(said_of({"a", "a", "b", "b"}, use), "");
  EXPECT_EQ(said_of({"a", "b", "a", "b", "b"}, measured_on({2, 2, is_crowded(3)})), "");
  EXPECT_EQ(said_of({"a", "a", "a", "b"}, use), kElsewhere);
  EXPECT_EQ(said_of({"a", "a", "b", "b", "c", "c"}, use), kElsewhere);
  EXPECT_EQ(said_of({"a", "a"}, use), kNot);
  Use larger = use;
  larger.least = 16;
  EXPECT_EQ(said_of({"a", "a", "b", "b"}, larger), kNot);
  EXPECT_EQ(said_of({"a", "a", "b", "b"}, measured_on({1, 0, crowded})), kNot);
}

TEST(WhereMeasured, IsWithNoMoreRanksOfOneNode) {
  EXPECT_EQ(said_of({"a", "a"}, measured_on({1, 2, is_crowded(2)})), "");
  EXPECT_EQ(said_of({"a", "a"}, measured_on({1, 3, is_crowded(2)})), "");
  EXPECT_EQ(said_of({"a", "a", "a"}, measured_on({1, 2, is_crowded(3)})), kElsewhere);
  EXPECT_EQ(said_of({"a", "a", "a"}, measured_on({1, 0, is_crowded(3)})), "");
}

TEST(WhereMeasured, IsWhereRanksOutnumberCoresOrDoNot) {
  const int cores = topo::node_cores();
  const std::vector<std::string> many(static_cast<std::size_t>(cores) + 1, "a");
  EXPECT_EQ(said_of(many, measured_on({1, 0, false})),
            "it was measured to be slower, but not where ranks outnumber cores");
  EXPECT_EQ(said_of(many, measured_on({1, 0, true})), "");
  if (cores < 2) return;
  EXPECT_EQ(said_of({"a", "a"}, measured_on({1, 0, false})), "");
  EXPECT_EQ(said_of({"a", "a"}, measured_on({1, 0, true})),
            "it was measured to be slower, but only where ranks outnumber cores");
}

/// All nodes do the same if ranks outnumber the cores of one of them.
TEST(WhereMeasured, IsTheSameOnAllNodes) {
  std::vector<std::string> uneven(static_cast<std::size_t>(topo::node_cores()) + 1, "a");
  uneven.emplace_back("b");
  EXPECT_EQ(said_of(uneven, measured_on({2, 1, true})), "");
  EXPECT_EQ(said_of(uneven, measured_on({2, 1, false})),
            "it was measured to be slower, but not where ranks outnumber cores");
}

}  // namespace
}  // namespace headrace::collective
