// What finds no room in a thread's tables is counted together, and no sum changes by it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/made_node.h"

namespace headrace::record {
namespace {

class Folds : public MadeNode {
 protected:
  static constexpr int kRanks = 32;

  MadeImage& rank_with(const ThreadRecord::Limits& limits) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", 0, kRanks, limits));
    return *made_.back();
  }
};

TEST_F(Folds, OfPeersKeepMessagesAndBytes) {
  constexpr int kApart = 8, kPeers = 20, kRounds = 3;
  MadeImage& made = rank_with({.peers = kApart});
  for (int round = 0; round < kRounds; ++round) {
    for (int peer = 0; peer < kPeers; ++peer) made.thread->add_message(peer, 100 + peer);
  }
  made.thread->add_message(-2, 7);  // to a rank outside MPI_COMM_WORLD: there is no room for it
  made.finish();
  gather();
  std::map<std::int64_t, MatrixRow> found;
  for (const MatrixRow& row : rows<MatrixRow>(Table::matrix)) found[row.peer] = row;
  ASSERT_EQ(found.size(), kApart + 1U);
  std::int64_t folded = 7;
  for (int peer = 0; peer < kPeers; ++peer) {
    if (peer >= kApart) {
      folded += kRounds * (100 + peer);
      continue;
    }
    EXPECT_EQ(found[peer].messages, kRounds);
    EXPECT_EQ(found[peer].sent, kRounds * (100 + peer));
  }
  EXPECT_EQ(found[-1].messages, kRounds * (kPeers - kApart) + 1);
  EXPECT_EQ(found[-1].sent, folded);
}

/// What rows of one class come to: calls, bytes, time, and calls by bins.
using ClassSums = std::array<std::int64_t, 3 + kBins>;

/// Calls of 60 procedures, of each class and by each bin.
void make_calls(MadeImage& made) {
  const std::uint32_t world = made.world(2);
  for (int i = 0; i < 60; ++i) {
    const std::string name = "MPI_Procedure_" + std::to_string(i);
    const std::int64_t bytes = std::int64_t{8} << (i % kBins * 4);
    for (int again = 0; again < 3; ++again) {
      made.call(name.c_str(), static_cast<CallClass>(i % kCallClasses), world, bytes, 10 + i);
    }
  }
  made.finish();
}

TEST_F(Folds, OfRowsKeepCallsBytesTimesAndBinsOfEachClass) {
  const auto sums = [&] {
    std::map<std::int64_t, ClassSums> found;
    for (const CallsRow& row : rows<CallsRow>(Table::calls)) {
      const ClassSums own{row.calls, row.sent, row.time, row.bin0, row.bin1,
                          row.bin2,  row.bin3, row.bin4, row.bin5, row.bin6};
      for (std::size_t i = 0; i < own.size(); ++i) found[row.class_][i] += own[i];
    }
    return found;
  };
  make_calls(rank_with({}));
  gather();
  const auto apart = sums();
  EXPECT_EQ(rows<CallsRow>(Table::calls).size(), 60U);
  ASSERT_EQ(apart.size(), std::size_t{kCallClasses});

  made_.front()->image->remove();
  made_.clear();
  constexpr std::size_t kRows = 20;
  make_calls(rank_with({.rows = kRows}));
  gather();
  EXPECT_EQ(rows<CallsRow>(Table::calls).size(), kRows);
  EXPECT_EQ(sums(), apart);
}

}  // namespace
}  // namespace headrace::record
