#include "steps/type_generator.h"

#include <array>

namespace headrace::steps {

TypeGenerator::Made TypeGenerator::make_with_map(int depth) {
  for (;;) {
    TypeTree tree = try_make(depth);
    TypeMap map = expand(tree);
    if (map.size() > kMaxBytes) continue;
    if (!ascending_ || ascends(map.repeated(3))) return {std::move(tree), std::move(map)};
  }
}

TypeTree TypeGenerator::try_make(int depth) {
  if (depth == 0) return random_basic();
  switch (number(0, 8)) {
    case 0: {
      TypeTree old = make(depth - 1);
      return contiguous(count(), std::move(old));
    }
    case 1: return vector(make_with_map(depth - 1));
    case 2: return blocks(make_with_map(depth - 1));
    case 3: return blocks_of_one_length(make_with_map(depth - 1));
    case 4: return structure(depth);
    case 5: return any_resized(make_with_map(depth - 1));
    case 6: return subarray(make_with_map(depth - 1));
    case 7: return darray(make_with_map(depth - 1));
    default: return make(depth - 1);
  }
}

TypeTree TypeGenerator::random_basic() {
  static constexpr std::array kSizes{1, 2, 3, 4, 8, 8, 16, 20};
  return basic(kSizes[static_cast<std::size_t>(number(0, std::ssize(kSizes) - 1))]);
}

TypeTree TypeGenerator::vector(const Made& old) {
  const std::int64_t n = count();
  const std::int64_t blocklength = count();
  const std::int64_t block = blocklength * old.map.extent();
  const std::int64_t stride = number(0, 3) == 0 ? block
                              : ascending_      ? block + number(0, 9)
                                                : number(-60, 60);
  return make_tree(TypeKind::hvector, {{n}, {blocklength}, {stride}}, {old.tree});
}

Numbers TypeGenerator::displacements(const Numbers& block_extents) {
  Numbers result;
  const std::int64_t gap = number(0, 2) * number(0, 8);
  const bool regular = number(0, 2) == 0;
  std::int64_t at = ascending_ ? number(0, 20) : number(-20, 20);
  for (const std::int64_t extent : block_extents) {
    if (!ascending_ && number(0, 3) == 0) at = number(-80, 80);
    result.push_back(at);
    at += extent + (regular ? gap : number(0, 1) * number(0, 12));
  }
  return result;
}

TypeTree TypeGenerator::blocks(const Made& old) {
  Numbers lengths(static_cast<std::size_t>(count()));
  Numbers extents;
  for (std::int64_t& length : lengths) {
    length = count();
    extents.push_back(length * old.map.extent());
  }
  return make_tree(TypeKind::hindexed, {lengths, displacements(extents)}, {old.tree});
}

TypeTree TypeGenerator::blocks_of_one_length(const Made& old) {
  const std::int64_t length = count();
  const Numbers extents(static_cast<std::size_t>(number(0, 6)), length * old.map.extent());
  return make_tree(TypeKind::hindexed_block, {{length}, displacements(extents)}, {old.tree});
}

TypeTree TypeGenerator::structure(int depth) {
  Numbers lengths(static_cast<std::size_t>(count()));
  Numbers extents;
  std::vector<TypeTree> children;
  std::int64_t extent = 0;
  for (std::int64_t& length : lengths) {
    length = number(0, 3);
    if (!children.empty() && number(0, 2) == 0) {
      children.push_back(children.back());
    } else {
      Made child = make_with_map(static_cast<int>(number(0, depth - 1)));
      children.push_back(std::move(child.tree));
      extent = child.map.extent();
    }
    extents.push_back(length * extent);
  }
  return make_tree(TypeKind::structure, {lengths, displacements(extents)}, std::move(children));
}

TypeTree TypeGenerator::any_resized(const Made& old) {
  std::int64_t lower = number(-20, 20);
  std::int64_t extent = number(-10, 80);
  if (ascending_) {
    lower = number(0, old.map.lowest());
    extent = old.map.highest() - lower + number(0, 16);
  }
  return resized(lower, extent, old.tree);
}

TypeTree TypeGenerator::subarray(const Made& old) {
  const std::int64_t dimensions = number(1, 3);
  const std::int64_t order = number(0, 1) != 0 ? 0 : 1;
  Numbers sizes;
  Numbers subsizes;
  Numbers starts;
  for (std::int64_t d = 0; d < dimensions; ++d) {
    sizes.push_back(number(1, 5));
    subsizes.push_back(number(0, 2) == 0 ? sizes.back() : number(1, sizes.back()));
    starts.push_back(number(0, sizes.back() - subsizes.back()));
  }
  return make_tree(TypeKind::subarray, {sizes, subsizes, starts, {order}}, {old.tree});
}

TypeTree TypeGenerator::darray(const Made& old) {
  const std::int64_t dimensions = number(1, 3);
  const std::int64_t order = number(0, 1) != 0 ? 0 : 1;
  Numbers sizes;
  Numbers ways;
  Numbers arguments;
  Numbers grid;
  std::int64_t processes = 1;
  for (std::int64_t d = 0; d < dimensions; ++d) {
    sizes.push_back(number(1, 6));
    ways.push_back(number(kNone, kCyclic));
    grid.push_back(ways.back() == kNone ? 1 : number(1, 3));
    arguments.push_back(kDefaultArgument);
    if (number(0, 1) != 0 && ways.back() == kCyclic) arguments.back() = number(1, 4);
    if (number(0, 1) != 0 && ways.back() == kBlock) {
      arguments.back() = (sizes.back() - 1) / grid.back() + 1 + number(0, 1);
    }
    processes *= grid.back();
  }
  const std::int64_t rank = number(0, processes - 1);
  return make_tree(TypeKind::darray, {{processes, rank}, sizes, ways, arguments, grid, {order}},
                   {old.tree});
}

}  // namespace headrace::steps
