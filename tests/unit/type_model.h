#pragma once

// MPI datatypes as plain lists of byte offsets, straight from the standard's definition of a type
// map. Shares no code with the view room, which is compared with it.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "view/type.h"

namespace headrace::view::test {

/// A type map, byte by byte in data order, and the markers of MPI 4.1, section 5.1.7.
struct Model {
  struct Markers {
    std::int64_t lower;
    std::int64_t upper;
  };
  std::vector<std::int64_t> offsets;
  std::optional<Markers> markers;

  std::int64_t lowest() const {
    return offsets.empty() ? 0 : *std::min_element(offsets.begin(), offsets.end());
  }
  std::int64_t highest() const {
    return offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end()) + 1;
  }
  std::int64_t lower() const { return markers ? markers->lower : lowest(); }
  std::int64_t upper() const { return markers ? markers->upper : highest(); }
  std::int64_t extent() const { return upper() - lower(); }

  /// Appends one element of `element` at `displacement`.
  void append(const Model& element, std::int64_t displacement) {
    for (std::int64_t offset : element.offsets) offsets.push_back(displacement + offset);
    if (!element.markers) return;
    const Markers moved{element.markers->lower + displacement,
                        element.markers->upper + displacement};
    if (!markers) {
      markers = moved;
    } else {
      markers->lower = std::min(markers->lower, moved.lower);
      markers->upper = std::max(markers->upper, moved.upper);
    }
  }
  void append_block(const Model& element, std::int64_t displacement, std::int64_t blocklength) {
    for (std::int64_t i = 0; i < blocklength; ++i) {
      append(element, displacement + i * element.extent());
    }
  }

  /// The bytes of `count` repetitions placed at `origin`.
  std::vector<std::int64_t> repeated(std::int64_t count, std::int64_t origin = 0) const {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t offset : offsets) result.push_back(origin + i * extent() + offset);
    }
    return result;
  }
};

/// A piece of consecutive bytes.
struct Piece {
  std::int64_t offset;
  std::int64_t length;
};

/// The fewest pieces that make up the bytes, in their order.
inline std::vector<Piece> fewest_pieces(const std::vector<std::int64_t>& offsets) {
  std::vector<Piece> pieces;
  for (std::int64_t offset : offsets) {
    if (!pieces.empty() && pieces.back().offset + pieces.back().length == offset) {
      ++pieces.back().length;
    } else {
      pieces.push_back({offset, 1});
    }
  }
  return pieces;
}

inline bool ascends(const std::vector<std::int64_t>& offsets) {
  return std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) ==
         offsets.end();
}

/// A type of the room and its model.
struct Pair {
  TypePtr type;
  Model model;
};

/// Makes random types, nested up to a depth. With `ascending` set they suit a file view that is
/// written: bytes at ascending offsets >= 0, also when repeated.
class TypeGenerator {
 public:
  explicit TypeGenerator(std::uint64_t seed, bool ascending = false)
      : random_(seed), ascending_(ascending) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// A type of at most kMostBytes bytes.
  Pair make(int depth) {
    for (;;) {
      Pair pair = try_make(depth);
      if (std::ssize(pair.model.offsets) > kMostBytes) continue;
      if (!ascending_ || ascends(pair.model.repeated(3))) return pair;
    }
  }

  static constexpr std::int64_t kMostBytes = 600;

 private:
  Pair try_make(int depth) {
    if (depth == 0) return basic();
    switch (number(0, 8)) {
      case 0: return contiguous(make(depth - 1));
      case 1: return hvector(make(depth - 1));
      case 2: return hindexed(make(depth - 1));
      case 3: return hindexed_block(make(depth - 1));
      case 4: return structure(depth);
      case 5: return resized(make(depth - 1));
      case 6: return subarray(make(depth - 1));
      case 7: return darray(make(depth - 1));
      default: return make(depth - 1);
    }
  }

  Pair basic() {
    static constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 8, 8, 16, 20};
    const std::int64_t size = kSizes[number(0, std::ssize(kSizes) - 1)];
    Model model;
    for (std::int64_t i = 0; i < size; ++i) model.offsets.push_back(i);
    return {make_basic(size), model};
  }

  std::int64_t count() { return number(0, 9) == 0 ? 0 : number(1, 4); }

  Pair contiguous(const Pair& old) {
    const std::int64_t n = count();
    Model model;
    model.append_block(old.model, 0, n);
    return {make_contiguous(n, old.type), model};
  }

  Pair hvector(const Pair& old) {
    const std::int64_t n = count();
    const std::int64_t blocklength = count();
    const std::int64_t block = blocklength * old.model.extent();
    const std::int64_t stride = number(0, 3) == 0 ? block
                                : ascending_      ? block + number(0, 9)
                                                  : number(-60, 60);
    Model model;
    for (std::int64_t i = 0; i < n; ++i) model.append_block(old.model, i * stride, blocklength);
    return {make_hvector(n, blocklength, stride, old.type), model};
  }

  /// Places for blocks of elements: often touching, sometimes regular, else anywhere.
  std::vector<std::int64_t> displacements(const std::vector<std::int64_t>& block_extents) {
    std::vector<std::int64_t> result;
    const std::int64_t gap = number(0, 2) * number(0, 8);
    const bool regular = number(0, 2) == 0;
    std::int64_t at = ascending_ ? number(0, 20) : number(-20, 20);
    for (std::int64_t extent : block_extents) {
      if (!ascending_ && number(0, 3) == 0) at = number(-80, 80);
      result.push_back(at);
      at += extent + (regular ? gap : number(0, 1) * number(0, 12));
    }
    return result;
  }

  Pair hindexed(const Pair& old) {
    std::vector<std::int64_t> lengths(count());
    std::vector<std::int64_t> extents;
    for (std::int64_t& length : lengths) {
      length = count();
      extents.push_back(length * old.model.extent());
    }
    const std::vector<std::int64_t> places = displacements(extents);
    Model model;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      model.append_block(old.model, places[i], lengths[i]);
    }
    return {make_hindexed(lengths, places, old.type), model};
  }

  Pair hindexed_block(const Pair& old) {
    const std::int64_t length = count();
    const std::vector<std::int64_t> places =
        displacements(std::vector<std::int64_t>(number(0, 6), length * old.model.extent()));
    Model model;
    for (std::int64_t place : places) model.append_block(old.model, place, length);
    return {make_hindexed_block(length, places, old.type), model};
  }

  Pair structure(int depth) {
    std::vector<std::int64_t> lengths(count());
    std::vector<std::int64_t> extents;
    std::vector<Pair> parts;
    for (std::int64_t& length : lengths) {
      length = number(0, 3);
      const bool repeats = !parts.empty() && number(0, 2) == 0;
      parts.push_back(repeats ? parts.back() : make(static_cast<int>(number(0, depth - 1))));
      extents.push_back(length * parts.back().model.extent());
    }
    const std::vector<std::int64_t> places = displacements(extents);
    Model model;
    std::vector<TypePtr> types;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      model.append_block(parts[i].model, places[i], lengths[i]);
      types.push_back(parts[i].type);
    }
    return {make_struct(lengths, places, types), model};
  }

  Pair resized(const Pair& old) {
    std::int64_t lower = number(-20, 20);
    std::int64_t extent = number(-10, 80);
    if (ascending_) {
      lower = number(0, old.model.lowest());
      extent = old.model.highest() - lower + number(0, 16);
    }
    Model model = old.model;
    model.markers = Model::Markers{lower, lower + extent};
    return {make_resized(old.type, lower, extent), model};
  }

  Pair subarray(const Pair& old) {
    const std::int64_t dimensions = number(1, 3);
    const Order order = number(0, 1) ? Order::row_major : Order::column_major;
    std::vector<std::int64_t> sizes, subsizes, starts;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      sizes.push_back(number(1, 5));
      subsizes.push_back(number(0, 2) == 0 ? sizes.back() : number(1, sizes.back()));
      starts.push_back(number(0, sizes.back() - subsizes.back()));
    }
    Model model = array_part(sizes, order, old.model, [&](std::size_t d, std::int64_t index) {
      return index >= starts[d] && index < starts[d] + subsizes[d];
    });
    return {make_subarray(sizes, subsizes, starts, order, old.type), model};
  }

  Pair darray(const Pair& old) {
    const std::int64_t dimensions = number(1, 3);
    const Order order = number(0, 1) ? Order::row_major : Order::column_major;
    std::vector<std::int64_t> sizes, arguments, grid;
    std::vector<Distribution> distributions;
    std::int64_t processes = 1;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      sizes.push_back(number(1, 6));
      distributions.push_back(static_cast<Distribution>(number(0, 2)));
      grid.push_back(distributions.back() == Distribution::none ? 1 : number(1, 3));
      arguments.push_back(kDefaultDistributionArgument);
      if (number(0, 1) && distributions.back() == Distribution::cyclic) {
        arguments.back() = number(1, 4);
      }
      if (number(0, 1) && distributions.back() == Distribution::block) {
        arguments.back() = (sizes.back() - 1) / grid.back() + 1 + number(0, 1);
      }
      processes *= grid.back();
    }
    const std::int64_t rank = number(0, processes - 1);
    std::vector<std::int64_t> own(dimensions);
    for (std::int64_t d = dimensions, rest = rank; d-- > 0; rest /= grid[d]) {
      own[d] = rest % grid[d];
    }
    Model model = array_part(sizes, order, old.model, [&](std::size_t d, std::int64_t index) {
      return owner(distributions[d], arguments[d], sizes[d], grid[d], index) == own[d];
    });
    return {make_darray(rank, sizes, distributions, arguments, grid, order, old.type), model};
  }

 public:
  /// The process coordinate that holds `index` of one dimension (MPI 4.1, section 5.1.4).
  static std::int64_t owner(Distribution distribution, std::int64_t argument, std::int64_t size,
                            std::int64_t processes, std::int64_t index) {
    if (distribution == Distribution::none) return 0;
    const bool is_default = argument == kDefaultDistributionArgument;
    if (distribution == Distribution::block) {
      return index / (is_default ? (size + processes - 1) / processes : argument);
    }
    return index / (is_default ? 1 : argument) % processes;
  }

  /// The elements of an array for which `holds(dimension, index)` is true in every dimension, in
  /// storage order, with the bounds of the array.
  template <class Holds>
  static Model array_part(const std::vector<std::int64_t>& sizes, Order order, const Model& element,
                          Holds&& holds) {
    const std::int64_t total =
        std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    Model model;
    for (std::int64_t i = 0; i < total; ++i) {
      bool is_held = true;
      std::int64_t rest = i;
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const std::size_t d = order == Order::row_major ? sizes.size() - 1 - k : k;
        is_held = is_held && holds(d, rest % sizes[d]);
        rest /= sizes[d];
      }
      if (is_held) model.append(element, i * element.extent());
    }
    model.markers = Model::Markers{0, total * element.extent()};
    return model;
  }

 private:
  std::mt19937_64 random_;
  bool ascending_;
};

}  // namespace headrace::view::test
