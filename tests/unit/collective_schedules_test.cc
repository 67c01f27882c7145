// Schedules of all operations, carried out by emulated ranks in any order, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

/// Sums of numbers of 32 bits, which wrap.
void add(const void*, const std::byte* from, std::byte* into, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint32_t)) {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::memcpy(&a, into + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a += b;
    std::memcpy(into + i, &a, sizeof a);
  }
}
constexpr Reduction kAdd{&add, nullptr};
constexpr std::size_t kElement = sizeof(std::uint32_t);

/// What rank `rank` gives at byte `i` of what it sends in a call.
std::byte given(int rank, std::size_t call, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(rank) * 31 + call * 101 + i * 7 + i / 251);
}

std::vector<std::byte> given_by(int rank, std::size_t call, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = given(rank, call, i);
  return made;
}

/// One call as the ranks have it, and what is to come of it.
struct Case {
  std::vector<RankCall> ranks;
  std::vector<std::vector<std::byte>> expected;
  std::vector<std::size_t> sizes;  ///< of v-forms
  std::vector<std::ptrdiff_t> offsets;
};

std::vector<std::byte> sum_of(int ranks, std::size_t call, std::size_t bytes) {
  std::vector<std::byte> sum = given_by(0, call, bytes);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<std::byte> one = given_by(rank, call, bytes);
    for (std::size_t i = 0; i < bytes; i += kElement) {
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      std::memcpy(&a, &sum[i], kElement);
      std::memcpy(&b, &one[i], kElement);
      a += b;
      std::memcpy(&sum[i], &a, kElement);
    }
  }
  return sum;
}

/// Draws sizes; `out` is filled in place, since its calls name its tables.
void make_case(Case& out, Operation operation, int ranks, std::size_t number,
               std::mt19937& random) {
  std::size_t bytes = random() % 5 == 0 ? 0 : random() % 40 * kElement;
  // Of operations on whole buffers some have so much that ranks divide the work.
  const std::size_t whole = random() % 3 == 0 ? bytes + 2048 + random() % 64 * kElement : bytes;
  // Often the same, which then runs ahead.
  const int root =
      random() % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(ranks)) : 0;
  const auto count = static_cast<std::size_t>(ranks);
  out.ranks.resize(count);
  out.expected.resize(count);
  for (std::size_t i = 0; i < count; ++i) out.sizes.push_back(random() % 30 * kElement);
  const std::size_t all = std::accumulate(out.sizes.begin(), out.sizes.end(), std::size_t{0});
  // In reverse, with gaps.
  std::ptrdiff_t next = 0;
  out.offsets.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    out.offsets[i] = next;
    next += static_cast<std::ptrdiff_t>(out.sizes[i] + kElement);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    RankCall& own = out.ranks[r];
    std::vector<std::byte>& expected = out.expected[r];
    own.call = {.operation = operation, .bytes = bytes, .root = root, .element = kElement};
    switch (operation) {
      case Operation::barrier: own.call.bytes = 0; break;
      case Operation::bcast:
        own.call.bytes = bytes = whole;
        own.send = given_by(root, number, bytes);
        own.receive.resize(bytes);
        if (rank != root) expected = own.send;
        if (rank == root) expected.resize(bytes);
        break;
      case Operation::reduce:
        own.call.bytes = bytes = whole;
        own.send = given_by(rank, number, bytes);
        own.receive.resize(bytes);
        expected.resize(bytes);
        if (rank == root) expected = sum_of(ranks, number, bytes);
        break;
      case Operation::allreduce:
        own.call.bytes = bytes = whole;
        own.send = given_by(rank, number, bytes);
        own.receive.resize(bytes);
        expected = sum_of(ranks, number, bytes);
        break;
      case Operation::allgather:
        own.call.blocks = {bytes, bytes, {}, {}};
        own.send = given_by(rank, number, bytes);
        own.receive.resize(bytes * count);
        for (int other = 0; other < ranks; ++other) {
          const std::vector<std::byte> block = given_by(other, number, bytes);
          expected.insert(expected.end(), block.begin(), block.end());
        }
        own.is_in_place = random() % 2 == 0;
        own.in_place_offset = r * bytes;
        if (own.is_in_place) std::ranges::copy(own.send, own.receive.data() + r * bytes);
        break;
      case Operation::allgatherv:
        own.call.bytes = all;
        own.call.blocks = {0, 0, out.sizes, out.offsets};
        own.send = given_by(rank, number, out.sizes[r]);
        own.receive.resize(static_cast<std::size_t>(next));
        expected.resize(own.receive.size());
        for (std::size_t other = 0; other < count; ++other) {
          std::ranges::copy(given_by(static_cast<int>(other), number, out.sizes[other]),
                            expected.data() + out.offsets[other]);
        }
        break;
      case Operation::alltoall:
        own.call.blocks = {bytes, bytes, {}, {}};
        own.send = given_by(rank, number, bytes * count);
        own.receive.resize(bytes * count);
        for (int other = 0; other < ranks; ++other) {
          for (std::size_t i = 0; i < bytes; ++i) {
            expected.push_back(given(other, number, r * bytes + i));
          }
        }
        break;
      case Operation::reduce_scatter_block: {
        own.call.blocks = {bytes, bytes, {}, {}};
        own.send = given_by(rank, number, bytes * count);
        own.receive.resize(bytes);
        const std::vector<std::byte> sum = sum_of(ranks, number, bytes * count);
        expected.assign(sum.begin() + static_cast<std::ptrdiff_t>(r * bytes),
                        sum.begin() + static_cast<std::ptrdiff_t>((r + 1) * bytes));
        break;
      }
      case Operation::reduce_scatter: {
        out.offsets[r] = 0;
        for (std::size_t i = 0; i < r; ++i) {
          out.offsets[r] += static_cast<std::ptrdiff_t>(out.sizes[i]);
        }
        own.call.bytes = all;
        own.call.blocks = {0, 0, out.sizes, out.offsets};
        own.send = given_by(rank, number, all);
        own.receive.resize(out.sizes[r]);
        const std::vector<std::byte> sum = sum_of(ranks, number, all);
        expected.assign(sum.begin() + out.offsets[r],
                        sum.begin() + out.offsets[r] + static_cast<std::ptrdiff_t>(out.sizes[r]));
        break;
      }
      default: break;  // collective_parcels_test.cc has them
    }
  }
}

constexpr std::size_t kStage = std::size_t{1} << 20;

/// Several calls one after the other, so that some ranks are in one and others in the next.
void check(const Algorithm& algorithm, const Nodes& nodes, unsigned seed) {
  constexpr std::size_t kCalls = 8;
  std::mt19937 random(seed);
  World world(nodes, kStage);
  const int ranks = world.layout().size();
  std::vector<Case> cases(kCalls);
  std::vector<std::vector<RankCall>> calls(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < kCalls; ++i) {
    make_case(cases[i], algorithm.operation, ranks, i, random);
    for (std::size_t r = 0; r < calls.size(); ++r) calls[r].push_back(cases[i].ranks[r]);
  }
  world.run(calls, &algorithm, kAdd, random);
  for (std::size_t i = 0; i < kCalls; ++i) {
    for (std::size_t r = 0; r < calls.size(); ++r) {
      ASSERT_EQ(calls[r][i].receive, cases[i].expected[r])
          << algorithm.name << ", call " << i << ", rank " << r << ", seed " << seed;
    }
  }
}

const Nodes kShapes[] = {
    in_blocks({2}),
    in_blocks({3}),
    in_blocks({7}),
    in_blocks({2, 2}),
    in_blocks({3, 1, 2}),
    in_blocks({4, 4, 4, 4}),
    in_blocks({1, 5}),
    in_blocks({2, 2, 2, 2, 2}),
    in_blocks({3, 1, 2, 2, 1, 4, 2}),
    dealt_round({2, 2}),
    dealt_round({3, 1, 2}),
    dealt_round({4, 4, 4}),
    dealt_round({1, 6, 2, 2, 3}),
};

TEST(Schedules, GiveWhatPlainLoopsGive) {
  int checked = 0;
  for (const Nodes& nodes : kShapes) {
    const Shape shape = Layout(nodes).shape_of(0);
    for (const Algorithm* const algorithm : algorithms()) {
      if (moves_parcels(algorithm->operation)) continue;
      Call call;
      call.operation = algorithm->operation;
      const bool is_shared = algorithm == &node_allreduce_shared;  // takes small ones, too
      if (algorithm->obstacle(shape, call, {kStage}) != nullptr &&
          !(is_shared && shape.node_count == 1)) {
        continue;
      }
      for (unsigned seed = 0; seed < 12; ++seed) {
        check(*algorithm, nodes, seed);
        if (HasFatalFailure()) return;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 500);
}

struct Sent {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

Sent sent_by(const Algorithm& algorithm, const Nodes& nodes, std::size_t bytes) {
  std::mt19937 random(1);
  World world(nodes, std::size_t{4} << 20);
  std::vector<std::vector<RankCall>> calls;
  for (int rank = 0; rank < world.layout().size(); ++rank) {
    RankCall own;
    own.call = {.operation = algorithm.operation, .bytes = bytes, .element = kElement};
    own.call.blocks = {bytes, bytes, {}, {}};
    const std::size_t all = bytes * static_cast<std::size_t>(world.layout().size());
    own.send.resize(all);
    own.receive.resize(all);
    calls.push_back({own});
  }
  world.run(calls, &algorithm, kAdd, random);
  return {world.messages(), world.bytes()};
}

TEST(Schedules, SendEachByteToEachNodeOnce) {
  constexpr std::size_t kBlock = 1024;
  for (const Nodes& nodes :
       {in_blocks({2, 2, 2, 2}), dealt_round({4, 4, 4, 4}), dealt_round({3, 1, 2, 2})}) {
    const std::int64_t ranks = Layout(nodes).size();
    const auto count = std::ssize(nodes);
    const std::int64_t least = ranks * static_cast<std::int64_t>(kBlock) * (count - 1);
    const Sent ring = sent_by(nodes_allgather_ring, nodes, kBlock);
    EXPECT_EQ(ring.bytes, least);
    EXPECT_EQ(ring.messages, count * (count - 1));
    const Sent doubling = sent_by(nodes_allgather_bruck, nodes, kBlock);
    EXPECT_EQ(doubling.bytes, least);
    EXPECT_LE(doubling.messages, count * 2 + 2);  // some lie across the end
    const Sent scattered = sent_by(nodes_reduce_scatter_block, nodes, kBlock);
    EXPECT_EQ(scattered.bytes, least);
    EXPECT_EQ(scattered.messages, count * (count - 1));
  }
}

TEST(Schedules, SendABroadcastAndASumOnceForEachNode) {
  for (const Nodes& nodes : {in_blocks({3, 1, 2, 2, 4}), dealt_round({4, 4, 4, 4})}) {
    const Sent sent = sent_by(nodes_bcast, nodes, 1000);
    EXPECT_EQ(sent.messages, std::ssize(nodes) - 1);
    EXPECT_EQ(sent.bytes, 1000 * (std::ssize(nodes) - 1));
    const Sent reduced = sent_by(nodes_reduce, nodes, 1000);
    EXPECT_EQ(reduced.messages, sent.messages);
    EXPECT_EQ(reduced.bytes, sent.bytes);
  }
}

/// What was begun is waited for: else its memory may be used anew too early.
void expect_all_complete(const Schedule& schedule, std::string_view name) {
  bool is_under_way = false;
  for (const Step& step : schedule.steps) {
    if (step.kind == Step::Kind::send || step.kind == Step::Kind::receive) is_under_way = true;
    if (step.kind == Step::Kind::complete) is_under_way = false;
    const bool reads = step.kind == Step::Kind::reduce || step.kind == Step::Kind::distribute;
    EXPECT_FALSE(reads && is_under_way) << name;
  }
  EXPECT_FALSE(is_under_way) << name;
}

/// No step of a call with as many bytes as have room goes past the stage.
void expect_inside(const Schedule& schedule, std::size_t stage, std::string_view name) {
  for (const Step& step : schedule.steps) {
    const auto count = static_cast<std::size_t>(step.count);
    const bool moves = step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce ||
                       step.kind == Step::Kind::send || step.kind == Step::Kind::receive;
    if (!moves || count == 0) continue;
    const std::size_t from = step.from.offset + (count - 1) * step.from_distance + step.bytes;
    const std::size_t to = step.to.offset + (count - 1) * step.to_distance + step.bytes;
    EXPECT_TRUE(step.from.area != Area::stage || from <= stage) << name;
    EXPECT_TRUE(step.to.area != Area::stage || to <= stage) << name;
  }
}

TEST(Schedules, CompleteWhatTheyBeginAndStayInsideTheStage) {
  const Limits limits{kStage};
  int checked = 0;
  for (const Nodes& nodes : kShapes) {
    const Layout layout(nodes);
    for (const Algorithm* const algorithm : algorithms()) {
      if (moves_parcels(algorithm->operation) || algorithm->largest == nullptr) continue;
      Call call{.operation = algorithm->operation, .element = kElement};
      call.bytes = std::max<std::size_t>(
          algorithm->largest(layout.shape_of(0), limits) / kElement * kElement, kElement);
      call.blocks = {call.bytes, call.bytes, {}, {}};
      if (algorithm->obstacle(layout.shape_of(0), call, limits) != nullptr) continue;
      for (int rank = 0; rank < layout.size(); ++rank) {
        for (call.root = 0; call.root < layout.size(); ++call.root) {
          Schedule schedule;
          algorithm->plan(layout.shape_of(rank), call, limits, schedule);
          expect_all_complete(schedule, algorithm->name);
          expect_inside(schedule, limits.stage, algorithm->name);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 300);
}

TEST(Schedules, AreSmallOnManyNodes) {
  std::vector<int> sizes(1024, 128);
  sizes.back() = 127;  // not all alike, so that no algorithm leaves it to the library for that
  const Layout layout(in_blocks(sizes));
  for (const int rank : {0, 1, 128 * 700, 128 * 700 + 77}) {
    const Shape shape = layout.shape_of(rank);
    for (const Algorithm* const algorithm : algorithms()) {
      Call call{.operation = algorithm->operation, .bytes = 16, .element = 4};
      call.blocks = {16, 16, {}, {}};
      if (algorithm->operation == Operation::allgatherv) continue;  // its arguments are a list
      const Limits limits{std::size_t{4} << 20};
      if (algorithm->obstacle(shape, call, limits) != nullptr) continue;
      Schedule schedule;
      algorithm->plan(shape, call, limits, schedule);
      const std::size_t bytes = schedule.steps.capacity() * sizeof(Step);
      EXPECT_LE(bytes, shape.is_leader() ? std::size_t{1} << 20 : std::size_t{4096})
          << algorithm->name;
    }
  }
}

}  // namespace
}  // namespace headrace::collective
