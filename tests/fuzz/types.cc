#include "fuzz/types.h"

#include <algorithm>
#include <numeric>

namespace headrace::fuzz {
namespace {

using sim::Random;

constexpr std::int64_t kMaxBytes = 500;
constexpr std::int64_t kMaxSpan = 40'000;

TypeTree random_basic(Random& random) {
  return basic(random.one_of<std::int64_t>({1, 1, 2, 4, 4, 8}));
}

/// Makes types nested up to a depth. Ascending ones have blocks at ascending places, others at any.
class TypeMaker {
 public:
  TypeMaker(Random& random, bool is_ascending) : random_(random), ascends_(is_ascending) {}

  TypeTree make(int depth) {
    if (depth == 0) return random_basic(random_);
    const TypeTree old = make(depth - 1);
    switch (random_.number(0, 12)) {
      case 0: return contiguous(count(), old);
      case 1: return vector(TypeKind::vector, old, extent(old) == 0 ? 1 : extent(old));
      case 2: return vector(TypeKind::hvector, old, 1);
      case 3: return blocks(TypeKind::indexed, old);
      case 4:
      case 5: return blocks(TypeKind::hindexed, old);
      case 6: return blocks(TypeKind::indexed_block, old);
      case 7: return blocks(TypeKind::hindexed_block, old);
      case 8: return structure(old, depth);
      case 9: return any_resized(old);
      case 10: return subarray(old);
      case 11: return darray(old);
      default: return TypeTree{TypeKind::dup, {}, {old}};
    }
  }

 private:
  static std::int64_t extent(const TypeTree& type) { return expand(type).extent(); }
  std::int64_t count() { return random_.number(random_.chance(8) ? 0 : 1, 4); }

  TypeTree vector(TypeKind kind, const TypeTree& old, std::int64_t unit) {
    const std::int64_t length = count();
    std::int64_t stride = length + random_.number(0, 3);
    if (!ascends_) stride = random_.number(-4, 6);
    if (unit == 1) stride = stride * std::max<std::int64_t>(1, extent(old)) + random_.number(0, 9);
    return make_tree(kind, {{count()}, {length}, {stride}}, {old});
  }

  TypeTree blocks(TypeKind kind, const TypeTree& old) {
    const bool in_bytes = kind == TypeKind::hindexed || kind == TypeKind::hindexed_block;
    const bool one_length = kind == TypeKind::indexed_block || kind == TypeKind::hindexed_block;
    const std::int64_t number = random_.number(random_.chance(5) ? 0 : 1, 5);
    const std::int64_t unit = in_bytes ? std::max<std::int64_t>(1, extent(old)) : 1;
    Numbers lengths;
    Numbers places;
    std::int64_t next = random_.number(0, 2) * unit;
    for (std::int64_t i = 0; i < number; ++i) {
      lengths.push_back(one_length && i > 0 ? lengths[0] : count());
      places.push_back(ascends_ ? next
                                : random_.number(-5, 12) * unit + random_.number(0, unit - 1));
      next +=
          (lengths.back() + random_.number(0, 2)) * unit + (in_bytes ? random_.number(0, 5) : 0);
    }
    if (one_length) lengths.assign(1, lengths.empty() ? 1 : lengths[0]);
    return make_tree(kind, {lengths, places}, {old});
  }

  TypeTree structure(const TypeTree& first, int depth) {
    std::vector<TypeTree> children{first};
    if (random_.chance(70)) children.push_back(make(depth - 1));
    if (random_.chance(40)) children.push_back(random_basic(random_));
    Numbers lengths;
    Numbers places;
    std::int64_t next = 0;
    for (const TypeTree& child : children) {
      lengths.push_back(count());
      places.push_back(ascends_ ? next : random_.number(-60, 200));
      next += lengths.back() * std::max<std::int64_t>(0, extent(child)) + random_.number(0, 9);
    }
    // Libraries may pad a structure: bounds of its own take their choice away.
    const TypeTree inner = make_tree(TypeKind::structure, {lengths, places}, std::move(children));
    const TypeMap map = expand(inner);
    return resized(std::min<std::int64_t>(0, map.lower()), std::max(map.upper(), next), inner);
  }

  TypeTree any_resized(const TypeTree& old) {
    const TypeMap map = expand(old);
    std::int64_t lower = map.lower() + (random_.chance(60) ? 0 : random_.number(-9, 9));
    std::int64_t size = std::max(map.extent(), map.highest() - map.lowest());
    if (!ascends_ && random_.chance(30)) size = random_.number(0, size);
    return resized(lower, size + random_.number(0, 1) * random_.number(0, 12), old);
  }

  TypeTree subarray(const TypeTree& old) {
    Numbers sizes;
    Numbers subsizes;
    Numbers starts;
    for (std::int64_t d = random_.number(1, 3); d > 0; --d) {
      sizes.push_back(random_.number(1, 5));
      subsizes.push_back(random_.number(1, sizes.back()));
      starts.push_back(random_.number(0, sizes.back() - subsizes.back()));
    }
    return make_tree(TypeKind::subarray, {sizes, subsizes, starts, {random_.number(0, 1)}}, {old});
  }

  TypeTree darray(const TypeTree& old) {
    Numbers sizes;
    Numbers ways;
    Numbers arguments;
    Numbers grid;
    std::int64_t ranks = 1;
    for (std::int64_t d = random_.number(1, 3); d > 0; --d) {
      sizes.push_back(random_.number(1, 6));
      ways.push_back(random_.number(kNone, kCyclic));
      grid.push_back(ways.back() == kNone ? 1 : random_.number(1, 3));
      ranks *= grid.back();
      arguments.push_back(kDefaultArgument);
      if (ways.back() != kNone && random_.chance(40)) {
        const std::int64_t least =
            ways.back() == kBlock ? (sizes.back() + grid.back() - 1) / grid.back() : 1;
        arguments.back() = least + random_.number(0, 2);
      }
    }
    return make_tree(TypeKind::darray,
                     {{ranks, random_.number(0, ranks - 1)},
                      sizes,
                      ways,
                      arguments,
                      grid,
                      {random_.number(0, 1)}},
                     {old});
  }

  Random& random_;
  bool ascends_;
};

bool is_handy(const TypeMap& map) {
  return map.size() <= kMaxBytes && map.highest() - map.lowest() <= kMaxSpan &&
         std::max(map.extent(), -map.extent()) <= kMaxSpan;
}

/// An etype that the filetype may be made of.
TypeTree etype_for(Random& random, const TypeTree& filetype) {
  const std::int64_t size = expand(filetype).size();
  if (size > 0 && random.chance(15)) return filetype;
  Numbers units;
  for (const std::int64_t unit : {1, 2, 4, 8}) {
    if (size % unit == 0) units.push_back(unit);
  }
  const TypeTree unit = basic(random.one_of(units));
  for (const std::int64_t number : {3, 5}) {
    if (random.chance(25) && size % (number * unit.arguments[0][0]) == 0) {
      return contiguous(number, unit);
    }
  }
  return unit;
}

/// MPI wants etypes of one extent on all ranks.
void give_one_extent(Random& random, std::vector<View>& views) {
  const auto differs = [&](const View& view) {
    return expand(view.etype).extent() != expand(views[0].etype).extent();
  };
  if (std::ranges::none_of(views, differs)) return;
  Numbers units;
  for (const std::int64_t unit : {1, 2, 4, 8}) {
    const auto fits = [&](const View& view) { return expand(view.filetype).size() % unit == 0; };
    if (std::ranges::all_of(views, fits)) units.push_back(unit);
  }
  const TypeTree etype = basic(random.one_of(units));
  for (View& view : views) view.etype = etype;
}

/// Borders of windows and of 32 bits are where bytes are lost.
std::int64_t displacement(Random& random, bool may_be_large) {
  const std::int64_t near = random.number(0, 300);
  switch (random.number(0, 9)) {
    case 0:
    case 1:
    case 2: return 0;
    case 3:
    case 4: return near;
    case 5: return random.number(0, 9) * 8192;
    case 9:
      if (may_be_large) return (std::int64_t{1} << random.number(31, 33)) - near;
      [[fallthrough]];
    default: return random.number(1, 3) * 65536 - near;
  }
}

/// A displacement that lets a byte of a view be the last one below a border of windows.
std::int64_t up_to_border(Random& random, const View& view) {
  const Repetitions tiles(expand(view.filetype));
  if (tiles.size() == 0) return 0;
  const std::int64_t last = tiles.offset_of(random.number(0, 3 * tiles.size()));
  return std::max<std::int64_t>(0, random.number(1, 3) * 65536 - view.displacement - last - 1);
}

/// A tile is cut into pieces, each of a random rank or of nobody.
std::vector<View> mosaic(Random& random, int ranks) {
  const std::int64_t granule = random.one_of<std::int64_t>({1, 1, 2, 4, 8});
  const std::int64_t longest = random.one_of<std::int64_t>({1, 4, 20, 200}) / granule;
  const int nobody = random.one_of<int>({0, 0, 20, 50});
  std::vector<Numbers> lengths(static_cast<std::size_t>(ranks));
  std::vector<Numbers> places(lengths.size());
  std::int64_t end = 0;
  for (std::int64_t i = ranks * random.number(1, 5); i > 0; --i) {
    const std::int64_t len = random.number(1, std::max<std::int64_t>(1, longest));
    if (!random.chance(nobody)) {
      const auto rank = static_cast<std::size_t>(random.number(0, ranks - 1));
      lengths[rank].push_back(len);
      places[rank].push_back(end);
    }
    end += len * granule;
  }
  std::vector<View> views;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const TypeTree pieces =
        make_tree(TypeKind::hindexed, {lengths[rank], places[rank]}, {basic(granule)});
    const TypeTree filetype = resized(0, end, pieces);
    views.push_back({0, false, basic(random.chance(70) ? granule : 1), filetype});
  }
  return views;
}

/// A matrix distributed over a grid of ranks.
std::vector<View> matrix(Random& random, int ranks) {
  Numbers grid{1, ranks};
  for (std::int64_t rows = 2; rows <= ranks; ++rows) {
    if (ranks % rows == 0 && random.chance(50)) grid = {rows, ranks / rows};
  }
  const TypeTree element = random_basic(random);
  const Numbers sizes{random.number(1, 12), random.number(1, 12)};
  const Numbers ways{random.number(kBlock, kCyclic), random.number(kBlock, kCyclic)};
  const std::int64_t order = random.number(0, 1);
  std::vector<View> views;
  for (int rank = 0; rank < ranks; ++rank) {
    views.push_back(
        {0, false, element,
         make_tree(
             TypeKind::darray,
             {{ranks, rank}, sizes, ways, {kDefaultArgument, kDefaultArgument}, grid, {order}},
             {element})});
  }
  return views;
}

/// Every rank has a random type in a part of the tile that no other rank sees.
std::vector<View> side_by_side(Random& random, int ranks) {
  std::vector<TypeTree> parts;
  Numbers places;
  std::int64_t end = 0;
  const std::int64_t gap = random.one_of<std::int64_t>({0, 0, 20, 3'000});
  for (int rank = 0; rank < ranks; ++rank) {
    parts.push_back(contiguous(random.number(1, 3), ascending_type(random)));
    places.push_back(end);
    end += expand(parts.back()).highest() + random.number(0, gap);
  }
  std::vector<View> views;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const TypeTree filetype =
        resized(0, std::max<std::int64_t>(end, 1),
                make_tree(TypeKind::hindexed, {{1}, {places[rank]}}, {parts[rank]}));
    views.push_back({0, false, etype_for(random, filetype), filetype});
  }
  return views;
}

View lone_view(Random& random, bool is_written) {
  if (random.chance(30)) {
    const TypeTree unit = random_basic(random);
    return {0, false, unit, unit};
  }
  TypeTree filetype = ascending_type(random);
  // Files that are only read may have views that overlap, though none that go backwards.
  if (!is_written && random.chance(30)) {
    const TypeTree unit = random_basic(random);
    const std::int64_t size = expand(unit).highest();
    filetype =
        make_tree(TypeKind::hvector,
                  {{random.number(2, 5)}, {random.number(1, 3)}, {random.number(0, size)}}, {unit});
  }
  return {0, false, etype_for(random, filetype), filetype};
}

}  // namespace

TypeTree memory_type(Random& random, bool may_overlap) {
  if (random.chance(50)) return random_basic(random);
  for (int i = 0; i < 20; ++i) {
    TypeTree type =
        TypeMaker(random, random.chance(30)).make(static_cast<int>(random.number(1, 3)));
    const TypeMap map = expand(type);
    if (is_handy(map) && (may_overlap || !Repetitions(map).has_overlap(4))) return type;
  }
  return random_basic(random);
}

TypeTree ascending_type(Random& random) {
  for (int i = 0; i < 20; ++i) {
    TypeTree type = TypeMaker(random, true).make(static_cast<int>(random.number(1, 3)));
    const TypeMap map = expand(type);
    if (is_handy(map) && map.lowest() >= 0 && Repetitions(map).ascends()) return type;
  }
  return contiguous(random.number(1, 4), random_basic(random));
}

std::vector<View> random_views(Random& random, int ranks, const ViewUse& use) {
  const auto number = static_cast<std::size_t>(ranks);
  std::vector<View> views;
  if (use.same_for_all) {
    views.assign(number, lone_view(random, use.is_written));
  } else {
    switch (random.number(0, 7)) {
      case 0:
      case 1:
      case 2: views = mosaic(random, ranks); break;
      case 3: views = matrix(random, ranks); break;
      case 4:
      case 5: views = side_by_side(random, ranks); break;
      default:
        while (views.size() < number) views.push_back(lone_view(random, use.is_written));
    }
  }
  const std::int64_t far = random.chance(30) ? up_to_border(random, random.one_of(views))
                                             : displacement(random, use.is_large);
  for (View& view : views) view.displacement += far;
  if (!random.chance(3)) give_one_extent(random, views);
  return views;
}

}  // namespace headrace::fuzz
