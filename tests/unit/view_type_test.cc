#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "steps/engine/make_type.h"
#include "steps/type_generator.h"
#include "view/cursor.h"
#include "view/type.h"

namespace headrace::view::test {
namespace {

using steps::ascends;
using steps::Numbers;
using steps::Pair;
using steps::TypeGenerator;

constexpr std::int64_t kHuge = std::int64_t{1} << 61;

/// All bytes of `count` repetitions, as the room walks them.
Numbers bytes_of(const TypePtr& type, std::int64_t count) {
  Numbers result;
  Cursor cursor(type, 0, count * type->size());
  while (cursor.remaining() > 0) {
    const StridedRun run = cursor.next();
    for (std::int64_t i = 0; i < run.count; ++i) {
      for (std::int64_t b = 0; b < run.length; ++b) {
        result.push_back(run.offset + i * run.stride + b);
      }
    }
  }
  return result;
}

/// A piece of consecutive bytes.
struct Piece {
  std::int64_t offset;
  std::int64_t length;
};

/// The fewest pieces that make up the bytes, in their order.
std::vector<Piece> fewest_pieces(const Numbers& offsets) {
  std::vector<Piece> pieces;
  for (const std::int64_t offset : offsets) {
    if (!pieces.empty() && pieces.back().offset + pieces.back().length == offset) {
      ++pieces.back().length;
    } else {
      pieces.push_back({offset, 1});
    }
  }
  return pieces;
}

void expect_same(const Pair& pair) {
  const auto& [type, model] = pair;
  ASSERT_TRUE(type);
  EXPECT_EQ(type->size(), std::ssize(model.offsets));
  EXPECT_EQ(type->lower_bound(), model.lower());
  EXPECT_EQ(type->upper_bound(), model.upper());
  EXPECT_EQ(type->extent(), model.extent());
  EXPECT_EQ(type->true_lower_bound(), model.lowest());
  EXPECT_EQ(type->true_upper_bound(), model.highest());
  EXPECT_EQ(bytes_of(type, 3), model.repeated(3));
  EXPECT_EQ(type->is_monotonic(), ascends(model.repeated(3)));
  EXPECT_EQ(type->pieces_are_apart(), ascends(model.offsets));
  EXPECT_EQ(type->is_contiguous(), fewest_pieces(model.repeated(3)).size() == 1);
}

/// The type may have more pieces than the fewest, so it may go backwards where those do not.
void expect_order(const Pair& pair) {
  const auto& [type, model] = pair;
  const std::vector<Piece> pieces = fewest_pieces(model.offsets);
  const bool ascend = std::ranges::is_sorted(pieces, {}, &Piece::offset);
  EXPECT_LE(type->pieces_ascend(), ascend);
  EXPECT_LE(type->pieces_are_apart(), type->pieces_ascend());
  if (type->piece_count() == std::ssize(pieces)) {
    EXPECT_EQ(type->pieces_ascend(), ascend);
  }
}

void expect_pieces_fit(const Pair& pair) {
  const auto& [type, model] = pair;
  const std::vector<Piece> pieces = fewest_pieces(model.offsets);
  EXPECT_GE(type->piece_count(), std::ssize(pieces));
  EXPECT_LE(type->piece_count(), type->size());
  std::int64_t common = std::gcd(model.extent(), std::int64_t{0});
  for (const Piece& piece : pieces) {
    common = std::gcd(common, std::gcd(piece.offset, piece.length));
  }
  EXPECT_GE(type->granule(), 1);
  EXPECT_EQ(common % type->granule(), 0);
  if (type->piece_count() == std::ssize(pieces)) {
    EXPECT_EQ(type->granule(), std::max<std::int64_t>(common, 1));
  }
}

TEST(ViewType, RandomTypesAreTheirTypeMap) {
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    TypeGenerator generator(seed, seed % 2 == 1);
    const Pair pair = pair_of(generator.make(static_cast<int>(seed % 6)));
    expect_same(pair);
    expect_pieces_fit(pair);
    expect_order(pair);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(ViewType, OrderOfPiecesIsThatOfTheirBeginnings) {
  const TypePtr element = make_basic(4);
  const TypePtr overlapping = make_hvector(3, 2, 4, element);
  EXPECT_TRUE(overlapping->pieces_ascend());
  EXPECT_FALSE(overlapping->pieces_are_apart());
  const TypePtr backwards = make_hvector(3, 1, -8, element);
  EXPECT_FALSE(backwards->pieces_ascend());
  EXPECT_FALSE(make_hvector(2, 1, 8, make_hvector(3, 1, 8, element))->pieces_ascend());
  EXPECT_TRUE(make_hvector(2, 1, 16, make_hvector(3, 1, 8, element))->pieces_ascend());
}

TEST(ViewType, AscendingTypesAreMonotonic) {
  int large = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    TypeGenerator generator(seed, true);
    const Pair pair = pair_of(generator.make(4));
    EXPECT_TRUE(pair.type->is_monotonic()) << "seed " << seed;
    if (pair.type->piece_count() > 8) ++large;
  }
  EXPECT_GT(large, 100);  // the generator makes what it is meant to
}

TEST(ViewType, DenseTypesBecomeOnePiece) {
  const TypePtr number = make_basic(8);
  const TypePtr row = make_contiguous(10, number);
  const Numbers steps{0, 80, 160};
  const Numbers lengths{1, 1, 1};
  const TypePtr dense[] = {
      row,
      make_hvector(10, 1, 8, number),
      make_hvector(5, 2, 16, number),
      make_hindexed_block(1, steps, row),
      make_hindexed(lengths, steps, row),
      make_struct(lengths, steps, std::vector<TypePtr>{row, row, row}),
      make_subarray(Numbers{3, 4}, Numbers{3, 4}, Numbers{0, 0}, Order::row_major, number),
  };
  for (const TypePtr& type : dense) {
    EXPECT_TRUE(type->is_contiguous());
    EXPECT_EQ(type->piece_count(), 1);
    EXPECT_EQ(type->layout().node->kind, NodeKind::bytes);
  }
}

TEST(ViewType, LoopsWithMatchingStridesMerge) {
  const TypePtr column = make_resized(make_hvector(10, 1, 64, make_basic(8)), 0, 640);
  const TypePtr columns = make_contiguous(1000, column);
  EXPECT_EQ(columns->layout().node->depth, 1);
  EXPECT_EQ(columns->layout().node->count, 10000);
  EXPECT_EQ(columns->tiled()->depth, 1);
}

TEST(ViewType, SubarrayIsOneLoopPerPartialDimension) {
  const Numbers sizes{16, 16, 16, 16};
  const auto loops = [&](const Numbers& subsizes) {
    return make_subarray(sizes, subsizes, Numbers{0, 0, 0, 0}, Order::row_major, make_basic(8))
        ->layout()
        .node->depth;
  };
  EXPECT_EQ(loops({8, 8, 8, 8}), 3);
  EXPECT_EQ(loops({8, 8, 8, 16}), 2);
  EXPECT_EQ(loops({8, 16, 8, 8}), 2);
  EXPECT_EQ(loops({8, 16, 16, 16}), 0);
  EXPECT_EQ(loops({1, 1, 1, 8}), 0);
}

TEST(ViewType, RegularListsBecomeVectors) {
  Numbers displacements(1000);
  Numbers lengths(1000, 3);
  for (std::size_t i = 0; i < displacements.size(); ++i) displacements[i] = 48 * i;
  const TypePtr number = make_basic(8);
  for (const TypePtr& type : {make_hindexed_block(3, displacements, number),
                              make_hindexed(lengths, displacements, number)}) {
    EXPECT_EQ(type->layout().node->kind, NodeKind::vector);
    EXPECT_EQ(type->piece_count(), 1000);
    EXPECT_EQ(type->granule(), 24);
  }
}

TEST(ViewType, IrregularListsAreOneNode) {
  Numbers displacements;
  for (std::int64_t i = 0; i < 100000; ++i) displacements.push_back(100 * i + i % 7);
  const TypePtr blocks = make_hindexed_block(2, displacements, make_basic(8));
  EXPECT_EQ(blocks->layout().node->kind, NodeKind::blocks);
  EXPECT_EQ(blocks->layout().node->child->kind, NodeKind::bytes);
  EXPECT_EQ(blocks->layout().node->offsets.capacity(), 100000u);

  const TypePtr holey = make_resized(make_basic(8), 0, 16);
  const TypePtr nested = make_hindexed_block(2, displacements, holey);
  EXPECT_EQ(nested->layout().node->kind, NodeKind::blocks);
  EXPECT_EQ(nested->layout().node->depth, 2);
}

TEST(ViewType, PiecesThatMeetJoin) {
  const TypePtr type = make_hindexed_block(1, Numbers{0, 8, 16, 100, 108, 200}, make_basic(8));
  EXPECT_EQ(type->piece_count(), 3);
  EXPECT_EQ(type->layout().node->kind, NodeKind::pieces);
  EXPECT_EQ(make_hindexed_block(1, Numbers{0, 8, 100, 108}, make_basic(8))->piece_count(), 2);
}

/// Lists that differ only inside are not taken for each other.
TEST(ViewType, PartsOfEqualSpanStayApart) {
  const TypePtr number = make_basic(4);
  const TypePtr early = make_hindexed_block(1, Numbers{0, 8, 40}, number);
  const TypePtr late = make_hindexed_block(1, Numbers{0, 16, 40}, number);
  const TypePtr both =
      make_struct(Numbers{1, 1}, Numbers{0, 100}, std::vector<TypePtr>{early, late});
  EXPECT_EQ(both->layout().node->kind, NodeKind::mixed);
  EXPECT_EQ(offset_of(*both, 0, 4), 8);
  EXPECT_EQ(offset_of(*both, 0, 16), 116);
  const TypePtr twice =
      make_struct(Numbers{1, 1}, Numbers{0, 100},
                  std::vector<TypePtr>{early, make_hindexed_block(1, Numbers{0, 8, 40}, number)});
  EXPECT_EQ(twice->layout().node->kind, NodeKind::vector);
}

TEST(ViewType, EmptyPartsVanish) {
  const TypePtr number = make_basic(8);
  const TypePtr nothing = make_basic(0);
  const TypePtr type =
      make_struct(Numbers{0, 5, 1, 3}, Numbers{-kHuge, 400, 16, 800},
                  std::vector<TypePtr>{number, nothing, number, make_contiguous(0, number)});
  EXPECT_EQ(type->size(), 8);
  EXPECT_EQ(type->lower_bound(), 16);
  EXPECT_EQ(type->extent(), 8);
  EXPECT_EQ(type->layout().node->kind, NodeKind::bytes);

  for (const TypePtr& empty :
       {nothing, make_contiguous(0, number), make_hvector(std::int64_t{1} << 40, 0, 8, number),
        make_hvector(0, std::int64_t{1} << 60, 8, number), make_hindexed({}, {}, number),
        make_hindexed_block(std::int64_t{1} << 60, {}, number), make_struct({}, {}, {})}) {
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->size(), 0);
    EXPECT_EQ(empty->extent(), 0);
    EXPECT_EQ(empty->piece_count(), 0);
    EXPECT_EQ(empty->granule(), 1);
    EXPECT_FALSE(empty->is_contiguous());
    EXPECT_TRUE(empty->is_monotonic());
  }
}

TEST(ViewType, ExplicitBoundsHideOthers) {
  const TypePtr number = make_basic(4);
  const TypePtr resized = make_resized(number, -4, 24);
  const TypePtr type = make_struct(Numbers{1, 2, 1}, Numbers{-100, 0, 100},
                                   std::vector<TypePtr>{number, resized, number});
  EXPECT_EQ(type->lower_bound(), -4);
  EXPECT_EQ(type->upper_bound(), 24 + 20);
  EXPECT_EQ(type->true_lower_bound(), -100);
  EXPECT_EQ(type->true_upper_bound(), 104);
}

TEST(ViewType, OverflowGivesNull) {
  const TypePtr number = make_basic(8);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const TypePtr many = make_contiguous(std::int64_t{1} << 57, number);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->size(), std::int64_t{1} << 60);
  EXPECT_EQ(make_contiguous(8, many), nullptr);
  EXPECT_EQ(make_contiguous(kLargest, number), nullptr);
  EXPECT_EQ(make_hvector(kLargest, kLargest, kLargest, number), nullptr);
  EXPECT_EQ(make_hvector(2, 1, kLargest, number), nullptr);
  EXPECT_EQ(make_hvector(3, 1, -kHuge, number), nullptr);
  EXPECT_EQ(make_hindexed(Numbers{kLargest, kLargest}, Numbers{0, 0}, number), nullptr);
  EXPECT_EQ(make_hindexed_block(1, Numbers{kLargest - 4}, number), nullptr);
  EXPECT_EQ(make_resized(number, kLargest, kLargest), nullptr);
  EXPECT_EQ(
      make_subarray(Numbers{kHuge, 64}, Numbers{1, 1}, Numbers{0, 0}, Order::row_major, number),
      nullptr);
  EXPECT_EQ(make_contiguous(1, nullptr), nullptr);
  EXPECT_EQ(make_struct(Numbers{1}, Numbers{0}, std::vector<TypePtr>{nullptr}), nullptr);
}

/// What is refused is where the bytes lie in the end, not a number on the way there.
TEST(ViewType, BlocksOfOnePieceAreRefusedByTheirBytes) {
  constexpr std::int64_t kLargest = (std::int64_t{1} << 62) - 1;
  constexpr std::int64_t kInt64 = std::numeric_limits<std::int64_t>::max();
  const TypePtr byte = make_basic(1);
  const auto blocks = [](const Numbers& lengths, const Numbers& places, const TypePtr& old) {
    return make_hindexed(lengths, places, old);
  };
  const TypePtr widest = blocks({1, 2}, {-kLargest, kLargest - 2}, byte);
  ASSERT_NE(widest, nullptr);
  EXPECT_EQ(widest->true_lower_bound(), -kLargest);
  EXPECT_EQ(widest->true_upper_bound(), kLargest);
  EXPECT_EQ(blocks({1, 2}, {-kLargest, kLargest - 1}, byte), nullptr);
  EXPECT_EQ(blocks({1, 2}, {-kLargest - 1, kLargest - 2}, byte), nullptr);
  EXPECT_EQ(blocks({1, 2, 1}, {0, kInt64 - 1, -kInt64}, byte), nullptr);
  EXPECT_EQ(blocks({1, 2}, {-2, kInt64}, byte), nullptr);
  EXPECT_EQ(blocks({1, kInt64}, {0, 8}, make_basic(16)), nullptr);
  EXPECT_EQ(blocks({kLargest, kLargest}, {-kLargest, 0}, byte), nullptr);
  EXPECT_EQ(blocks({kInt64, kInt64, 1}, {-kInt64, 0, 0}, byte), nullptr);
  EXPECT_EQ(blocks({0, 1}, {kInt64, 4}, byte)->true_lower_bound(), 4);

  // Displacements beyond the bounds are none where the old type's bytes lie far below.
  const TypePtr low = make_hindexed_block(1, Numbers{-kLargest}, byte);
  EXPECT_EQ(blocks({1, 2}, {kLargest + 1, kLargest + 9}, low)->true_upper_bound(), 11);
  // Bounds that were set may be too far where bytes are not.
  const TypePtr marked = make_resized(low, 0, 1);
  EXPECT_NE(blocks({1, 2}, {kLargest - 10, kLargest - 2}, marked), nullptr);
  EXPECT_EQ(blocks({1, 2}, {kLargest - 10, kLargest - 1}, marked), nullptr);
}

TEST(ViewType, LargeArraysNeedNoMoreThanSmallOnes) {
  // 2^17 x 2^17 numbers, the lower right quarter: 2^37 bytes of which a quarter is held.
  const std::int64_t side = std::int64_t{1} << 17;
  const TypePtr type = make_subarray(Numbers{side, side}, Numbers{side / 2, side / 2},
                                     Numbers{side / 2, side / 2}, Order::row_major, make_basic(8));
  EXPECT_EQ(type->size(), side * side * 2);
  EXPECT_EQ(type->extent(), side * side * 8);
  EXPECT_EQ(type->piece_count(), side / 2);
  EXPECT_EQ(type->granule(), side * 4);
  EXPECT_EQ(offset_of(*type, 0, type->size() - 1), type->extent() - 1);
}

/// The parts of all ranks cover the array exactly once, and each holds what its coordinates say.
void expect_partition(const Numbers& sizes, const std::vector<Distribution>& distributions,
                      const Numbers& arguments, const Numbers& grid, Order order) {
  const std::int64_t elements =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t processes =
      std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<int> covered(elements * 4);
  for (std::int64_t rank = 0; rank < processes; ++rank) {
    const TypePtr type =
        make_darray(rank, sizes, distributions, arguments, grid, order, make_basic(4));
    ASSERT_TRUE(type);
    EXPECT_EQ(type->extent(), elements * 4);
    EXPECT_EQ(type->lower_bound(), 0);
    EXPECT_TRUE(type->is_monotonic());
    for (std::int64_t offset : bytes_of(type, 1)) {
      ASSERT_GE(offset, 0);
      ASSERT_LT(offset, elements * 4);
      ++covered[offset];
    }
  }
  EXPECT_TRUE(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
}

TEST(ViewType, DarrayPartsCoverTheArrayOnce) {
  constexpr auto kNone = Distribution::none;
  constexpr auto kBlock = Distribution::block;
  constexpr auto kCyclic = Distribution::cyclic;
  constexpr auto kDefault = kDefaultDistributionArgument;
  for (Order order : {Order::row_major, Order::column_major}) {
    expect_partition({10}, {kBlock}, {kDefault}, {4}, order);
    expect_partition({10}, {kBlock}, {7}, {4}, order);
    expect_partition({10}, {kCyclic}, {kDefault}, {3}, order);
    expect_partition({10}, {kCyclic}, {4}, {3}, order);
    expect_partition({2}, {kBlock}, {kDefault}, {5}, order);
    expect_partition({2}, {kCyclic}, {20}, {5}, order);
    expect_partition({7, 9}, {kBlock, kCyclic}, {kDefault, 2}, {2, 3}, order);
    expect_partition({7, 5, 6}, {kCyclic, kNone, kBlock}, {3, kDefault, kDefault}, {2, 1, 4},
                     order);
    expect_partition({5, 6, 7, 8}, {kCyclic, kBlock, kCyclic, kNone}, {kDefault, 4, 3, 8},
                     {2, 2, 2, 1}, order);
  }
}

TEST(ViewType, DarrayOfTheStandardsExample) {
  // MPI 4.1, example 5.11 in small: 100 x 200 x 300 elements on a 2 x 3 x 4 grid, scaled by 1/10.
  const Numbers sizes{10, 20, 30};
  const std::vector<Distribution> distributions{Distribution::cyclic, Distribution::none,
                                                Distribution::block};
  const TypePtr type =
      make_darray(5, sizes, distributions,
                  Numbers{1, kDefaultDistributionArgument, kDefaultDistributionArgument},
                  Numbers{2, 1, 4}, Order::column_major, make_basic(1));
  // Rank 5 is at (1, 0, 1): odd indices of the first dimension, [8, 16) of the last.
  EXPECT_EQ(type->size(), 5 * 20 * 8);
  EXPECT_EQ(type->true_lower_bound(), 1 + 8 * 10 * 20);
  EXPECT_EQ(type->true_upper_bound(), 9 + 19 * 10 + 15 * 10 * 20 + 1);
  EXPECT_EQ(type->layout().node->depth, 1);  // one loop of single bytes, two apart
}

}  // namespace
}  // namespace headrace::view::test
