#include "sim/views.h"

#include <algorithm>
#include <numeric>

#include "steps/type_generator.h"

namespace headrace::sim {
namespace {

using steps::Numbers;
using steps::TypeGenerator;
using steps::TypeKind;
using steps::TypeTree;

constexpr std::int64_t kMaxTileBytes = 60'000;

View view_of(std::int64_t displacement, TypeTree etype, TypeTree filetype) {
  return {displacement, false, std::move(etype), std::move(filetype)};
}

std::int64_t size_of(const TypeTree& type) {
  return expand(type).size();
}

/// An etype that `filetype` consists of.
TypeTree etype_for(Random& random, const TypeTree& filetype) {
  const std::int64_t size = size_of(filetype);
  if (size > 0 && random.chance(15)) return filetype;
  Numbers units;
  for (const std::int64_t unit : {1, 2, 4, 8, 16, 40}) {
    if (size % unit == 0) units.push_back(unit);
  }
  return steps::basic(random.one_of(units));
}

/// MPI wants etypes of one extent on all ranks.
std::vector<View> with_one_extent(Random& random, std::vector<View> views) {
  const std::int64_t extent = expand(views[0].etype).extent();
  const auto differs = [&](const View& view) { return expand(view.etype).extent() != extent; };
  if (std::ranges::none_of(views, differs)) return views;
  Numbers sizes;
  for (const View& view : views) sizes.push_back(size_of(view.filetype));
  Numbers units;
  for (const std::int64_t unit : {1, 2, 4, 8, 16, 40}) {
    const auto fits = [&](std::int64_t size) { return size % unit == 0; };
    if (std::ranges::all_of(sizes, fits)) units.push_back(unit);
  }
  const TypeTree etype = steps::basic(random.one_of(units));
  for (View& view : views) view.etype = etype;
  return views;
}

/// Every rank has its own random type in a part of a tile that no other rank sees.
std::vector<View> types_side_by_side(Random& random, int ranks) {
  TypeGenerator generator(random.seed(), true);
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::vector<TypeTree> parts(order.size());
  std::int64_t end = 0;
  const std::int64_t largest_gap = random.one_of<std::int64_t>({0, 0, 20, 3'000});
  for (const int rank : order) {
    TypeTree part = generator.make(static_cast<int>(random.number(0, 3)));
    if (random.chance(50)) part = steps::contiguous(random.number(1, 6), part);
    const std::int64_t begin = end;
    end += expand(part).highest() + random.number(0, largest_gap);
    parts[static_cast<std::size_t>(rank)] =
        make_tree(TypeKind::hindexed_block, {{1}, {begin}}, {part});
  }
  end += random.number(1, 1 + largest_gap);
  const std::int64_t displacement = random.number(0, 1) * random.number(0, 70'000);
  std::vector<View> views;
  for (const TypeTree& part : parts) {
    const TypeTree filetype = steps::resized(0, end, part);
    views.push_back(view_of(displacement, etype_for(random, filetype), filetype));
  }
  return views;
}

/// A tile is cut into random pieces, each of a random rank or of nobody.
std::vector<View> mosaic(Random& random, int ranks) {
  const std::int64_t granule = random.one_of<std::int64_t>({1, 1, 2, 4, 8, 64, 512});
  const std::int64_t longest = random.one_of<std::int64_t>({1, 8, 100, 1'000, 6'000});
  const int nobody = random.one_of<int>({0, 0, 10, 50});
  const std::int64_t most_pieces = ranks * random.number(1, 8);
  std::vector<Numbers> lengths(static_cast<std::size_t>(ranks));
  std::vector<Numbers> places(lengths.size());
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < most_pieces && end < kMaxTileBytes; ++i) {
    const std::int64_t len = random.number(1, std::max<std::int64_t>(1, longest / granule));
    if (!random.chance(nobody)) {
      const auto rank = static_cast<std::size_t>(random.number(0, ranks - 1));
      lengths[rank].push_back(len);
      places[rank].push_back(end);
    }
    end += len * granule;
  }
  const TypeTree unit = steps::basic(granule);
  const std::int64_t displacement = random.number(0, 3) * granule * random.number(0, 5'000);
  std::vector<View> views;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const TypeTree filetype = steps::resized(
        0, end, make_tree(TypeKind::hindexed, {lengths[rank], places[rank]}, {unit}));
    views.push_back(
        view_of(displacement, random.chance(70) ? unit : etype_for(random, filetype), filetype));
  }
  return views;
}

/// A matrix distributed over a grid of ranks.
std::vector<View> matrix(Random& random, int ranks) {
  Numbers grid{1, ranks};
  for (std::int64_t rows = 2; rows <= ranks; ++rows) {
    if (ranks % rows == 0 && random.chance(50)) grid = {rows, ranks / rows};
  }
  const TypeTree element = steps::basic(random.one_of<std::int64_t>({1, 4, 8, 24}));
  const Numbers sizes{random.number(1, 60), random.number(1, 60)};
  const Numbers ways{random.one_of<std::int64_t>({steps::kBlock, steps::kCyclic}),
                     random.one_of<std::int64_t>({steps::kBlock, steps::kCyclic})};
  const Numbers arguments(2, steps::kDefaultArgument);
  const std::int64_t order = random.chance(50) ? 0 : 1;
  const std::int64_t displacement = random.number(0, 10'000);
  std::vector<View> views;
  for (int rank = 0; rank < ranks; ++rank) {
    views.push_back(
        view_of(displacement, element,
                make_tree(TypeKind::darray, {{ranks, rank}, sizes, ways, arguments, grid, {order}},
                          {element})));
  }
  return views;
}

}  // namespace

std::vector<View> disjoint_views(Random& random, int ranks) {
  switch (random.number(0, 4)) {
    case 0: return with_one_extent(random, types_side_by_side(random, ranks));
    case 1: return matrix(random, ranks);
    default: return with_one_extent(random, mosaic(random, ranks));
  }
}

std::vector<View> free_views(Random& random, int ranks, bool ascending) {
  TypeGenerator generator(random.seed(), ascending);
  std::vector<View> views;
  const bool contiguous_only = random.chance(30);
  for (int rank = 0; rank < ranks; ++rank) {
    const TypeTree filetype = contiguous_only
                                  ? steps::basic(random.one_of<std::int64_t>({1, 4, 8}))
                                  : generator.make(static_cast<int>(random.number(0, 3)));
    const std::int64_t displacement =
        random.number(0, 40'000) - std::min<std::int64_t>(0, expand(filetype).lowest());
    views.push_back(view_of(displacement, etype_for(random, filetype), filetype));
  }
  return with_one_extent(random, std::move(views));
}

std::vector<ViewMap> maps_of(const std::vector<View>& views) {
  return {views.begin(), views.end()};
}

}  // namespace headrace::sim
