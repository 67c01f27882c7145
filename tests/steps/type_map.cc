#include "steps/type_map.h"

#include <algorithm>
#include <functional>

namespace headrace::steps {
namespace {

void append_block(TypeMap& map, const TypeMap& element, std::int64_t blocklength,
                  std::int64_t displacement) {
  const std::int64_t extent = element.extent();
  for (std::int64_t i = 0; i < blocklength; ++i) {
    map.append(element, displacement + i * extent);
  }
}

TypeMap bytes_map(std::int64_t size) {
  TypeMap map;
  for (std::int64_t i = 0; i < size; ++i) map.offsets.push_back(i);
  return map;
}

TypeMap vector(const TypeTree& type, const TypeMap& old, std::int64_t unit) {
  TypeMap map;
  const std::int64_t blocklength = type.arguments[1][0];
  const std::int64_t stride = type.arguments[2][0] * unit;
  for (std::int64_t i = 0; i < type.arguments[0][0]; ++i) {
    append_block(map, old, blocklength, i * stride);
  }
  return map;
}

TypeMap indexed(const TypeTree& type, const TypeMap& old, std::int64_t unit) {
  TypeMap map;
  const Numbers& lengths = type.arguments[0];
  const Numbers& displacements = type.arguments[1];
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    // The block forms have one length for all.
    append_block(map, old, lengths[lengths.size() == 1 ? 0 : i], displacements[i] * unit);
  }
  return map;
}

TypeMap structure(const TypeTree& type) {
  TypeMap map;
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    append_block(map, expand(type.children[i]), type.arguments[0][i], type.arguments[1][i]);
  }
  return map;
}

/// The elements of an array, in storage order, whose indices are wanted.
TypeMap array_part(const Numbers& sizes, bool is_column_major, const TypeMap& old,
                   const std::function<bool(std::size_t, std::int64_t)>& wants) {
  TypeMap map;
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) elements *= size;
  for (std::int64_t element = 0; element < elements; ++element) {
    bool wanted = true;
    std::int64_t rest = element;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t dimension = is_column_major ? i : sizes.size() - 1 - i;
      wanted = wanted && wants(dimension, rest % sizes[dimension]);
      rest /= sizes[dimension];
    }
    if (wanted) map.append(old, element * old.extent());
  }
  map.markers = TypeMap::Markers{0, elements * old.extent()};
  return map;
}

TypeMap subarray(const TypeTree& type, const TypeMap& old) {
  const Numbers& subsizes = type.arguments[1];
  const Numbers& starts = type.arguments[2];
  return array_part(type.arguments[0], type.arguments[3][0] == 1, old,
                    [&](std::size_t d, std::int64_t index) {
                      return index >= starts[d] && index < starts[d] + subsizes[d];
                    });
}

/// The process of a dimension of the grid that holds an index.
std::int64_t owner(std::int64_t way, std::int64_t argument, std::int64_t size, std::int64_t grid,
                   std::int64_t index) {
  if (way == kNone) return 0;
  std::int64_t block = argument;
  if (argument == kDefaultArgument) block = way == kBlock ? (size + grid - 1) / grid : 1;
  return index / block % grid;
}

TypeMap darray(const TypeTree& type, const TypeMap& old) {
  const Numbers& sizes = type.arguments[1];
  const Numbers& ways = type.arguments[2];
  const Numbers& arguments = type.arguments[3];
  const Numbers& grid = type.arguments[4];
  // The grid of processes is row-major for both orders.
  Numbers own(grid.size());
  std::int64_t rank = type.arguments[0][1];
  for (std::size_t d = grid.size(); d-- > 0;) {
    own[d] = rank % grid[d];
    rank /= grid[d];
  }
  return array_part(sizes, type.arguments[5][0] == 1, old, [&](std::size_t d, std::int64_t index) {
    return owner(ways[d], arguments[d], sizes[d], grid[d], index) == own[d];
  });
}

}  // namespace

std::int64_t TypeMap::lowest() const {
  return offsets.empty() ? 0 : *std::ranges::min_element(offsets);
}

std::int64_t TypeMap::highest() const {
  return offsets.empty() ? 0 : *std::ranges::max_element(offsets) + 1;
}

void TypeMap::append(const TypeMap& element, std::int64_t displacement) {
  for (const std::int64_t offset : element.offsets) offsets.push_back(displacement + offset);
  if (!element.markers) return;
  const Markers moved{element.markers->lower + displacement, element.markers->upper + displacement};
  if (!markers) {
    markers = moved;
  } else {
    markers->lower = std::min(markers->lower, moved.lower);
    markers->upper = std::max(markers->upper, moved.upper);
  }
}

Numbers TypeMap::repeated(std::int64_t count, std::int64_t origin) const {
  Numbers result;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::int64_t offset : offsets) result.push_back(origin + i * extent() + offset);
  }
  return result;
}

TypeMap expand(const TypeTree& type) {
  if (type.kind == TypeKind::basic) return bytes_map(type.arguments[0][0]);
  if (type.kind == TypeKind::structure) return structure(type);
  TypeMap old = expand(type.children[0]);
  switch (type.kind) {
    case TypeKind::contiguous: {
      TypeMap map;
      append_block(map, old, type.arguments[0][0], 0);
      return map;
    }
    case TypeKind::vector: return vector(type, old, old.extent());
    case TypeKind::hvector: return vector(type, old, 1);
    case TypeKind::indexed:
    case TypeKind::indexed_block: return indexed(type, old, old.extent());
    case TypeKind::hindexed:
    case TypeKind::hindexed_block: return indexed(type, old, 1);
    case TypeKind::resized: {
      const std::int64_t lower = type.arguments[0][0];
      old.markers = TypeMap::Markers{lower, lower + type.arguments[1][0]};
      return old;
    }
    case TypeKind::subarray: return subarray(type, old);
    case TypeKind::darray: return darray(type, old);
    default: return old;  // dup
  }
}

bool ascends(const Numbers& offsets) {
  return std::ranges::adjacent_find(offsets, std::greater_equal<>()) == offsets.end();
}

bool Repetitions::has_overlap(std::int64_t count) const {
  Numbers places = map_.repeated(count);
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) != places.end();
}

}  // namespace headrace::steps
