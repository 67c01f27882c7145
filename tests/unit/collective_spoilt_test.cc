// Programs in which ranks differ about the size of a call's data between nodes: who would get other
// data than it expects gets none, and is told; later calls are right.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>

#include "unit/collective_parcel_cases.h"
#include "unit/collective_rank_threads.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

constexpr std::byte kUntouched{0x5a};

/// Sums of bytes.
void add_bytes(const void*, const std::byte* from, std::byte* into, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    into[i] = static_cast<std::byte>(std::to_integer<unsigned>(into[i]) +
                                     std::to_integer<unsigned>(from[i]));
  }
}

std::byte sum_of(int ranks, std::size_t call, std::size_t i) {
  unsigned sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    sum += std::to_integer<unsigned>(given(rank, 0, call, i));
  return static_cast<std::byte>(sum);
}

/// What a rank has in a call whose data it takes for so large; and what it has afterwards, if all
/// ranks do.
struct Case {
  RankCall call;
  std::vector<std::byte> expected;
};
Case make_case(Operation operation, std::size_t bytes, int root, int rank, int ranks,
               std::size_t number) {
  Case made;
  made.call.call = {.operation = operation, .bytes = bytes, .root = root, .element = 4};
  made.call.may_fail = true;
  const bool has_blocks = operation != Operation::bcast && operation != Operation::reduce;
  if (has_blocks) made.call.call.blocks = {bytes, bytes, {}, {}};
  const auto all = static_cast<std::size_t>(ranks) * bytes;
  made.call.send.resize(operation == Operation::reduce_scatter_block ? all : bytes);
  for (std::size_t i = 0; i < made.call.send.size(); ++i) {
    made.call.send[i] = given(rank, 0, number, i);
  }
  made.call.receive.resize(operation == Operation::allgather ? all : bytes, kUntouched);
  made.expected = made.call.receive;
  const auto own = static_cast<std::size_t>(rank);
  for (std::size_t i = 0; i < made.expected.size(); ++i) {
    if (operation == Operation::bcast && rank != root) made.expected[i] = given(root, 0, number, i);
    if (operation == Operation::reduce && rank == root) {
      made.expected[i] = sum_of(ranks, number, i);
    }
    if (operation == Operation::allgather) {
      made.expected[i] = given(static_cast<int>(i / bytes), 0, number, i % bytes);
    }
    if (operation == Operation::reduce_scatter_block) {
      made.expected[i] = sum_of(ranks, number, own * bytes + i);
    }
  }
  return made;
}

/// Whether a rank has to be told, which has the root's size or not.
bool must_fail(Operation operation, bool is_root, bool has_roots_size) {
  if (operation == Operation::bcast) return !has_roots_size;
  return operation != Operation::reduce || is_root;
}

void check_mistaken(const Algorithm& algorithm, const Nodes& nodes, unsigned seed) {
  constexpr std::size_t kCalls = 8;
  std::mt19937 random(seed);
  World world(nodes, std::size_t{1} << 20);
  const int ranks = world.layout().size();
  std::vector<std::vector<RankCall>> calls(static_cast<std::size_t>(ranks));
  std::vector<std::vector<std::vector<std::byte>>> expected(calls.size());
  std::vector<std::vector<bool>> fails(calls.size());
  for (std::size_t number = 0; number < kCalls; ++number) {
    const int root = static_cast<int>(random() % calls.size());
    const int mistaken = static_cast<int>(random() % calls.size());
    const bool is_whole_node = random() % 2 == 0;
    const std::size_t bytes = 4 * (1 + random() % 300);
    const std::size_t other = number % 2 == 0 ? 4 * (301 + random() % 300) : bytes;
    const auto is_mistaken = [&](int rank) {
      return rank == mistaken ||
             (is_whole_node && world.layout().node_of(rank) == world.layout().node_of(mistaken));
    };
    const bool is_smaller = random() % 2 == 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const std::size_t own = is_mistaken(rank) == is_smaller ? bytes : other;
      Case made = make_case(algorithm.operation, own, root, rank, ranks, number);
      calls[r].push_back(std::move(made.call));
      expected[r].push_back(std::move(made.expected));
      const bool has_roots_size = is_mistaken(rank) == is_mistaken(root);
      fails[r].push_back(bytes != other &&
                         must_fail(algorithm.operation, rank == root, has_roots_size));
    }
  }
  world.run(calls, &algorithm, {&add_bytes, nullptr}, random);
  for (std::size_t r = 0; r < calls.size(); ++r) {
    for (std::size_t number = 0; number < kCalls; ++number) {
      const RankCall& own = calls[r][number];
      SCOPED_TRACE(std::string(algorithm.name) + ", call " + std::to_string(number) + ", rank " +
                   std::to_string(r) + ", seed " + std::to_string(seed));
      const bool has_failed = static_cast<bool>(own.failure);
      ASSERT_FALSE(has_failed && number % 2 == 1) << own.failure.message;
      ASSERT_TRUE(has_failed || !fails[r][number]);
      ASSERT_TRUE(!has_failed || own.failure.error_class == ErrorClass::truncated);
      const std::vector<std::byte> nothing(own.receive.size(), kUntouched);
      ASSERT_EQ(own.receive, has_failed ? nothing : expected[r][number]);
    }
  }
}

TEST(DifferingSizes, BetweenNodesGiveNobodyForeignData) {
  int checked = 0;
  for (const Nodes& nodes : kShapes) {
    const Shape shape = Layout(nodes).shape_of(0);
    for (const Algorithm* const algorithm : {&nodes_bcast, &nodes_reduce, &nodes_allgather_ring,
                                             &nodes_allgather_bruck, &nodes_reduce_scatter_block}) {
      if (shape.node_count == 1 || shape.largest_node == 1) continue;
      for (unsigned seed = 0; seed < 6; ++seed) {
        check_mistaken(*algorithm, nodes, seed);
        if (HasFatalFailure()) return;
      }
      ++checked;
    }
  }
  EXPECT_EQ(checked, 5 * 9);
}

/// Sends as libraries send messages that are not large: whether or not somebody receives them.
class EagerMessenger : public sim::MailboxMessenger {
 public:
  using MailboxMessenger::MailboxMessenger;
  Error start_buffered_send(fabric::Message& message, int tag, int to,
                            std::span<const std::byte> outgoing) override {
    const Error error = start_send(message, tag, to, outgoing);
    static_cast<sim::MailboxMessage&>(message).send(std::make_shared<std::atomic<bool>>(true));
    return error;
  }
};

void expect_right_calls(Ranks& ranks, int rank, int size) {
  constexpr std::size_t kNumbers = 20'001;
  std::vector<std::int64_t> mine(kNumbers);
  std::iota(mine.begin(), mine.end(), rank);
  std::vector<std::int64_t> got(kNumbers);
  for (int root = 0; root < 2; ++root) {
    Call call = sum_call(kNumbers);
    call.root = root;
    call.operation = Operation::reduce;
    ASSERT_EQ(run(ranks, call, mine.data(), got.data()), Ranks::Outcome::done);
    const std::int64_t sum = size * (size - 1) / 2;
    for (std::size_t i = 0; rank == root && i < kNumbers; ++i) {
      ASSERT_EQ(got[i], size * static_cast<std::int64_t>(i) + sum);
    }
    call.operation = Operation::bcast;
    ASSERT_EQ(run(ranks, call, mine.data(), got.data()), Ranks::Outcome::done);
    for (std::size_t i = 0; rank != root && i < kNumbers; ++i) {
      ASSERT_EQ(got[i], root + static_cast<std::int64_t>(i));
    }
  }
}

struct Differing {
  std::size_t roots;   ///< numbers, as the root has it
  std::size_t others;  ///< as all others have it
};

/// What came is right, or nothing came: of calls in parts the first ones may have.
void expect_no_foreign(const std::vector<std::int64_t>& got, std::int64_t first,
                       std::int64_t distance) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != -1) {
      ASSERT_EQ(got[i], first + distance * static_cast<std::int64_t>(i));
    }
  }
}

void make_differing(Ranks& ranks, int rank, Operation operation, int root, const Differing& now) {
  const bool is_root = rank == root;
  Call call = sum_call(is_root ? now.roots : now.others);
  call.operation = operation;
  call.root = root;
  const std::size_t numbers = call.bytes / sizeof(std::int64_t);
  std::vector<std::int64_t> mine(numbers);
  std::iota(mine.begin(), mine.end(), rank);
  std::vector<std::int64_t> got(numbers, -1);
  Ranks::Ending ending;
  const Ranks::Outcome outcome = run(ranks, call, mine.data(), got.data(), ending);
  const bool is_same = now.roots == now.others;
  const bool is_told = operation == Operation::bcast ? !is_root : is_root;
  ASSERT_TRUE(!is_same || outcome == Ranks::Outcome::done);
  ASSERT_TRUE(is_same || !is_told || outcome == Ranks::Outcome::failed);
  if (outcome == Ranks::Outcome::failed) {
    ASSERT_EQ(ending.error.error_class, ErrorClass::truncated) << ending.error.message;
  }
  const int size = ranks.shape().size;
  if (operation == Operation::bcast) expect_no_foreign(got, root, 1);
  if (operation == Operation::reduce) expect_no_foreign(got, size * (size - 1) / 2, size);
}

/// 20,000 numbers go in 5 parts, and 90,000 in 16. The first root is alone on its node, the other
/// is not.
TEST(DifferingSizes, OfCallsInPartsAreToldToo) {
  run_ranks<EagerMessenger>({"a", "b", "a", "c", "c"}, [](int rank, Ranks& ranks) {
    constexpr std::size_t kSizes[] = {5, 20'000, 20'001, 90'000};
    for (const std::size_t roots : kSizes) {
      for (const std::size_t others : kSizes) {
        for (const Operation operation : {Operation::bcast, Operation::reduce}) {
          for (const int root : {1, 0}) {
            SCOPED_TRACE(std::string(name_of(operation)) + " of " + std::to_string(roots) +
                         " and " + std::to_string(others) + ", root " + std::to_string(root));
            make_differing(ranks, rank, operation, root, {roots, others});
            expect_right_calls(ranks, rank, 5);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

/// Both add up to as many bytes.
TEST(DifferingSizes, OfBlocksOnANodeLeaveTheCallToTheLibrary) {
  run_ranks({"a", "a"}, [](int rank, Ranks& ranks) {
    const std::vector<std::size_t> sizes = {rank == 0 ? 8U : 16U, rank == 0 ? 16U : 8U};
    const std::vector<std::ptrdiff_t> offsets = {0, static_cast<std::ptrdiff_t>(sizes[0])};
    Call call{.operation = Operation::allgatherv, .bytes = 24, .blocks = {0, 0, sizes, offsets}};
    const std::int64_t mine[2] = {7, 7};
    std::int64_t all[3] = {};
    EXPECT_EQ(run(ranks, call, mine, all), Ranks::Outcome::differs);
    EXPECT_EQ(all[1], 0);
  });
}

}  // namespace
}  // namespace headrace::collective
