#include "steps/engine/make_type.h"

#include <vector>

namespace headrace::steps {
namespace {

Numbers times(Numbers numbers, std::int64_t factor) {
  for (std::int64_t& number : numbers) number *= factor;
  return numbers;
}

view::TypePtr make_structure(const TypeTree& type) {
  std::vector<view::TypePtr> children;
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    // A program gives the same handle again, where it has the type already.
    const bool repeats = i > 0 && type.children[i] == type.children[i - 1];
    children.push_back(repeats ? children.back() : make_type(type.children[i]));
  }
  return view::make_struct(type.arguments[0], type.arguments[1], children);
}

view::Order order_of(const Numbers& argument) {
  return argument[0] == 1 ? view::Order::column_major : view::Order::row_major;
}

view::TypePtr make_darray(const std::vector<Numbers>& arguments, const view::TypePtr& old) {
  std::vector<view::Distribution> ways;
  for (const std::int64_t way : arguments[2]) {
    ways.push_back(way == kNone    ? view::Distribution::none
                   : way == kBlock ? view::Distribution::block
                                   : view::Distribution::cyclic);
  }
  Numbers blocks = arguments[3];
  for (std::int64_t& block : blocks) {
    if (block == kDefaultArgument) block = view::kDefaultDistributionArgument;
  }
  return view::make_darray(arguments[0][1], arguments[1], ways, blocks, arguments[4],
                           order_of(arguments[5]), old);
}

}  // namespace

view::TypePtr make_type(const TypeTree& type) {
  const std::vector<Numbers>& arguments = type.arguments;
  if (type.kind == TypeKind::basic) return view::make_basic(arguments[0][0]);
  if (type.kind == TypeKind::structure) return make_structure(type);
  const view::TypePtr old = make_type(type.children[0]);
  const std::int64_t extent = old->extent();
  switch (type.kind) {
    case TypeKind::contiguous: return view::make_contiguous(arguments[0][0], old);
    case TypeKind::vector:
      return view::make_hvector(arguments[0][0], arguments[1][0], arguments[2][0] * extent, old);
    case TypeKind::hvector:
      return view::make_hvector(arguments[0][0], arguments[1][0], arguments[2][0], old);
    case TypeKind::indexed:
      return view::make_hindexed(arguments[0], times(arguments[1], extent), old);
    case TypeKind::hindexed: return view::make_hindexed(arguments[0], arguments[1], old);
    case TypeKind::indexed_block:
      return view::make_hindexed_block(arguments[0][0], times(arguments[1], extent), old);
    case TypeKind::hindexed_block:
      return view::make_hindexed_block(arguments[0][0], arguments[1], old);
    case TypeKind::resized: return view::make_resized(old, arguments[0][0], arguments[1][0]);
    case TypeKind::subarray:
      return view::make_subarray(arguments[0], arguments[1], arguments[2], order_of(arguments[3]),
                                 old);
    case TypeKind::darray: return make_darray(arguments, old);
    default: return old;  // dup
  }
}

Pair pair_of(const TypeTree& type) {
  return {make_type(type), expand(type)};
}

}  // namespace headrace::steps
