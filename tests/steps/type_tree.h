#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::steps {

enum class TypeKind {
  basic,           ///< [size]; no children
  contiguous,      ///< [count]
  vector,          ///< [count] [blocklength] [stride], the stride in extents of the child
  hvector,         ///< the same, the stride in bytes
  indexed,         ///< [blocklengths...] [displacements...], in extents of the child
  hindexed,        ///< the same, displacements in bytes
  indexed_block,   ///< [blocklength] [displacements...], in extents of the child
  hindexed_block,  ///< the same, in bytes
  structure,       ///< [blocklengths...] [displacements...], a child for each block
  resized,         ///< [lower bound] [extent]
  subarray,        ///< [sizes...] [subsizes...] [starts...] [order]: 0 is C's, 1 Fortran's
  darray,  ///< [size rank] [gsizes...] [distributions...] [arguments...] [psizes...] [order]
  dup,     ///< no arguments
};

/// Of TypeKind::darray.
enum Distribution : std::int64_t { kNone, kBlock, kCyclic };
inline constexpr std::int64_t kDefaultArgument = -1;

using Numbers = std::vector<std::int64_t>;

/// A datatype: the arguments of its constructor, and the types it is made of.
struct TypeTree {
  TypeKind kind = TypeKind::basic;
  std::vector<Numbers> arguments{{1}};
  std::vector<TypeTree> children;

  bool operator==(const TypeTree&) const = default;
};

inline TypeTree make_tree(TypeKind kind, std::vector<Numbers> arguments,
                          std::vector<TypeTree> children) {
  return {kind, std::move(arguments), std::move(children)};
}
inline TypeTree basic(std::int64_t size) {
  return make_tree(TypeKind::basic, {{size}}, {});
}
inline TypeTree contiguous(std::int64_t count, TypeTree old) {
  return make_tree(TypeKind::contiguous, {{count}}, {std::move(old)});
}
inline TypeTree resized(std::int64_t lower, std::int64_t extent, TypeTree old) {
  return make_tree(TypeKind::resized, {{lower}, {extent}}, {std::move(old)});
}

}  // namespace headrace::steps
