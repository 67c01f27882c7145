#include "sim/views.h"

#include <algorithm>
#include <numeric>

namespace headrace::sim {
namespace {

using steps::TypeGenerator;

constexpr std::int64_t kMostTileBytes = 60'000;

Pair contiguous(std::int64_t count, const Pair& old) {
  TypeMap model;
  for (std::int64_t i = 0; i < count; ++i) model.append(old.model, i * old.model.extent());
  return {view::make_contiguous(count, old.type), model};
}

Pair placed(const Pair& old, std::int64_t displacement) {
  TypeMap model;
  model.append(old.model, displacement);
  const std::int64_t displacements[] = {displacement};
  return {view::make_hindexed_block(1, displacements, old.type), model};
}

/// An etype that `filetype` consists of.
Pair etype_for(Random& random, const Pair& filetype) {
  const std::int64_t size = std::ssize(filetype.model.offsets);
  if (size > 0 && random.chance(15)) return filetype;
  std::vector<std::int64_t> units;
  for (const std::int64_t unit : {1, 2, 4, 8, 16, 40}) {
    if (size % unit == 0) units.push_back(unit);
  }
  return basic(random.one_of(units));
}

/// MPI wants etypes of one extent on all ranks.
std::vector<ViewModel> with_one_extent(Random& random, std::vector<ViewModel> views) {
  const auto extent_of = [](const ViewModel& view) { return view.view().etype->extent(); };
  const auto differs = [&](const ViewModel& view) {
    return extent_of(view) != extent_of(views[0]);
  };
  if (std::ranges::none_of(views, differs)) return views;
  std::vector<std::int64_t> units;
  for (const std::int64_t unit : {1, 2, 4, 8, 16, 40}) {
    const auto fits = [&](const ViewModel& view) { return view.size() % unit == 0; };
    if (std::ranges::all_of(views, fits)) units.push_back(unit);
  }
  const Pair etype = basic(random.one_of(units));
  for (ViewModel& view : views) view = view.with_etype(etype);
  return views;
}

/// Every rank has its own random type in a part of a tile that no other rank sees.
std::vector<ViewModel> types_side_by_side(Random& random, int ranks) {
  TypeGenerator generator(random.seed(), true);
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::vector<Pair> parts(order.size());
  std::int64_t end = 0;
  const std::int64_t largest_gap = random.one_of<std::int64_t>({0, 0, 20, 3'000});
  for (const int rank : order) {
    Pair part = pair_of(generator.make(static_cast<int>(random.number(0, 3))));
    if (random.chance(50)) part = contiguous(random.number(1, 6), part);
    const std::int64_t begin = end;
    end += part.model.highest() + random.number(0, largest_gap);
    parts[static_cast<std::size_t>(rank)] = placed(part, begin);
  }
  end += random.number(1, 1 + largest_gap);
  const FileOffset displacement = random.number(0, 1) * random.number(0, 70'000);
  std::vector<ViewModel> views;
  for (const Pair& part : parts) {
    const Pair filetype = resized(part, end);
    views.emplace_back(displacement, etype_for(random, filetype), filetype);
  }
  return views;
}

/// A tile is cut into random pieces, each of a random rank or of nobody.
std::vector<ViewModel> mosaic(Random& random, int ranks) {
  const std::int64_t granule = random.one_of<std::int64_t>({1, 1, 2, 4, 8, 64, 512});
  const std::int64_t longest = random.one_of<std::int64_t>({1, 8, 100, 1'000, 6'000});
  const int nobody = random.one_of<int>({0, 0, 10, 50});
  const std::int64_t most_pieces = ranks * random.number(1, 8);
  std::vector<std::vector<std::int64_t>> lengths(static_cast<std::size_t>(ranks));
  std::vector<std::vector<std::int64_t>> places(lengths.size());
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < most_pieces && end < kMostTileBytes; ++i) {
    const std::int64_t len = random.number(1, std::max<std::int64_t>(1, longest / granule));
    if (!random.chance(nobody)) {
      const auto rank = static_cast<std::size_t>(random.number(0, ranks - 1));
      lengths[rank].push_back(len);
      places[rank].push_back(end);
    }
    end += len * granule;
  }
  const Pair unit = basic(granule);
  const FileOffset displacement = random.number(0, 3) * granule * random.number(0, 5'000);
  std::vector<ViewModel> views;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    TypeMap model;
    for (std::size_t i = 0; i < lengths[rank].size(); ++i) {
      for (std::int64_t n = 0; n < lengths[rank][i]; ++n) {
        model.append(unit.model, places[rank][i] + n * granule);
      }
    }
    const Pair pieces{view::make_hindexed(lengths[rank], places[rank], unit.type), model};
    const Pair filetype = resized(pieces, end);
    views.emplace_back(displacement, random.chance(70) ? unit : etype_for(random, filetype),
                       filetype);
  }
  return views;
}

/// A matrix distributed over a grid of ranks.
std::vector<ViewModel> matrix(Random& random, int ranks) {
  std::vector<std::int64_t> grid{1, ranks};
  for (std::int64_t rows = 2; rows <= ranks; ++rows) {
    if (ranks % rows == 0 && random.chance(50)) grid = {rows, ranks / rows};
  }
  const Pair element = basic(random.one_of<std::int64_t>({1, 4, 8, 24}));
  const std::vector<std::int64_t> sizes{random.number(1, 60), random.number(1, 60)};
  const std::vector<std::int64_t> ways{
      random.one_of<std::int64_t>({steps::kBlock, steps::kCyclic}),
      random.one_of<std::int64_t>({steps::kBlock, steps::kCyclic})};
  const std::vector<std::int64_t> arguments(2, steps::kDefaultArgument);
  const std::int64_t order = random.chance(50) ? 0 : 1;
  const FileOffset displacement = random.number(0, 10'000);
  std::vector<ViewModel> views;
  for (int rank = 0; rank < ranks; ++rank) {
    views.emplace_back(
        displacement, element,
        pair_of(steps::make_tree(steps::TypeKind::darray,
                                 {{ranks, rank}, sizes, ways, arguments, grid, {order}},
                                 {steps::basic(element.type->size())})));
  }
  return views;
}

}  // namespace

ViewModel::ViewModel(FileOffset displacement, Pair etype, Pair filetype)
    : displacement_(displacement),
      etype_(std::move(etype)),
      filetype_(std::move(filetype)),
      unit_(std::max<std::int64_t>(1, std::ssize(etype_.model.offsets))),
      extent_(filetype_.model.extent()),
      ascends_(steps::ascends(filetype_.model.repeated(3))) {}

ViewModel ViewModel::of_bytes() {
  return {0, basic(1), basic(1)};
}

std::vector<ViewModel> disjoint_views(Random& random, int ranks) {
  switch (random.number(0, 4)) {
    case 0: return with_one_extent(random, types_side_by_side(random, ranks));
    case 1: return matrix(random, ranks);
    default: return with_one_extent(random, mosaic(random, ranks));
  }
}

std::vector<ViewModel> free_views(Random& random, int ranks, bool ascending) {
  TypeGenerator generator(random.seed(), ascending);
  std::vector<ViewModel> views;
  const bool contiguous_only = random.chance(30);
  for (int rank = 0; rank < ranks; ++rank) {
    const Pair filetype = contiguous_only
                              ? basic(random.one_of<std::int64_t>({1, 4, 8}))
                              : pair_of(generator.make(static_cast<int>(random.number(0, 3))));
    const FileOffset displacement =
        random.number(0, 40'000) - std::min<std::int64_t>(0, filetype.model.lowest());
    views.emplace_back(displacement, etype_for(random, filetype), filetype);
  }
  return with_one_extent(random, std::move(views));
}

Pair basic(std::int64_t size) {
  TypeMap model;
  for (std::int64_t i = 0; i < size; ++i) model.offsets.push_back(i);
  return {view::make_basic(size), model};
}

Pair resized(const Pair& old, std::int64_t extent) {
  TypeMap model = old.model;
  model.markers = TypeMap::Markers{0, extent};
  return {view::make_resized(old.type, 0, extent), model};
}

}  // namespace headrace::sim
