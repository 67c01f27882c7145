#include "view/type.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "view/wide.h"

namespace headrace::view {
namespace {

/// The lowest and the highest displacement of the elements of a type.
struct DisplacementRange {
  Wide low = 0;
  Wide high = 0;

  void add(Wide displacement, std::int64_t blocklength, std::int64_t extent) {
    const Wide last = displacement + Wide{blocklength - 1} * extent;
    const Wide lowest = std::min(displacement, last);
    const Wide highest = std::max(displacement, last);
    low = is_empty ? lowest : std::min(low, lowest);
    high = is_empty ? highest : std::max(high, highest);
    is_empty = false;
  }

  bool is_empty = true;
};

/// Collects the bounds and the size of a composite type. Bounds that were set explicitly hide the
/// others; without any, the bounds are those of the bytes.
class CompositeBounds {
 public:
  /// Adds `count` elements of `type` at displacements in `range`.
  void add(const Type& type, const DisplacementRange& range, Wide count) {
    if (count == 0) return;
    elements_ += count;
    if (!view::fits(elements_)) return;  // the size might not even fit in 128 bits
    size_ += count * type.size();
    if (type.size() > 0) {
      data_.add(range.low + type.true_lower_bound(), range.high + type.true_upper_bound());
    }
    if (type.bounds().explicitly_set) {
      markers_.add(range.low + type.lower_bound(), range.high + type.upper_bound());
    }
  }

  bool fits() const {
    return view::fits(elements_) && view::fits(size_) && data_.fits() && markers_.fits();
  }

  Bounds bounds() const {
    const Range& range = markers_.is_empty ? data_ : markers_;
    return {static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high),
            !markers_.is_empty};
  }

 private:
  struct Range {
    Wide low = 0;
    Wide high = 0;
    bool is_empty = true;

    void add(Wide lower, Wide upper) {
      low = is_empty ? lower : std::min(low, lower);
      high = is_empty ? upper : std::max(high, upper);
      is_empty = false;
    }
    bool fits() const { return view::fits(low) && view::fits(high); }
  };

  Wide elements_ = 0;
  Wide size_ = 0;
  Range data_;
  Range markers_;
};

TypePtr make_type(Layout layout, Bounds bounds) {
  return std::make_shared<const Type>(std::move(layout), bounds);
}

/// Blocks of a type of which any number of repetitions is one piece. Bounds and size follow from
/// the pieces, in one pass.
TypePtr contiguous_blocks(UnclearedVector<std::int64_t> blocklengths,
                          UnclearedVector<std::int64_t> displacements, const Type& old) {
  const auto made = checked_pieces(std::move(displacements), std::move(blocklengths), old.size());
  if (!made) return nullptr;
  if (!made->node) return make_type({}, {});
  DisplacementRange range;
  range.low = Wide{made->offset} + made->node->low;
  range.high = Wide{made->offset} + made->node->high - old.size();
  CompositeBounds composite;
  composite.add(old, range, made->size() / old.size());
  if (!composite.fits()) return nullptr;
  return make_type(made->moved(old.layout().offset), composite.bounds());
}

Layout general_blocks(std::span<const std::int64_t> blocklengths,
                      std::span<const std::int64_t> displacements, const Type& old) {
  std::map<std::int64_t, Layout> block_of_length;  // equal blocks share a node
  std::vector<Layout> parts;
  parts.reserve(blocklengths.size());
  for (std::size_t i = 0; i < blocklengths.size(); ++i) {
    if (blocklengths[i] == 0) continue;
    const auto [entry, is_new] = block_of_length.try_emplace(blocklengths[i]);
    if (is_new) entry->second = repeat(old.layout(), blocklengths[i], old.extent());
    parts.push_back(entry->second.moved(displacements[i]));
  }
  return join(parts);
}

UnclearedVector<std::int64_t> copy_of(std::span<const std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

Type::Type(Layout layout, Bounds bounds)
    : layout_(std::move(layout)), bounds_(bounds), tiled_(tile(layout_, extent())) {
  granule_ = std::gcd(layout_.offset, extent());
  if (layout_.node) granule_ = std::gcd(granule_, layout_.node->granule);
  granule_ = std::max<std::int64_t>(granule_, 1);
  is_monotonic_ = !tiled_ || tiled_->is_monotonic;
}

TypePtr make_basic(ByteCount size) {
  if (!fits(size)) return nullptr;
  return make_type(bytes(size), {0, size, false});
}

TypePtr make_contiguous(std::int64_t count, const TypePtr& old) {
  return make_hvector(1, count, 0, old);
}

TypePtr make_hvector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                     const TypePtr& old) {
  if (!old) return nullptr;
  if (count == 0 || blocklength == 0) return make_type({}, {});
  DisplacementRange range;
  range.add(0, blocklength, old->extent());
  range.add(Wide{count - 1} * stride, blocklength, old->extent());
  CompositeBounds composite;
  composite.add(*old, range, Wide{count} * blocklength);
  if (!composite.fits()) return nullptr;
  const Layout block = repeat(old->layout(), blocklength, old->extent());
  return make_type(repeat(block, count, stride), composite.bounds());
}

TypePtr make_hindexed(std::span<const std::int64_t> blocklengths,
                      std::span<const std::int64_t> displacements, const TypePtr& old) {
  UnclearedVector<std::int64_t> lengths;
  lengths.reserve(blocklengths.size() + 1);
  lengths.assign(blocklengths.begin(), blocklengths.end());
  return take_hindexed(std::move(lengths), copy_of(displacements), old);
}

TypePtr take_hindexed(UnclearedVector<std::int64_t> blocklengths,
                      UnclearedVector<std::int64_t> displacements, const TypePtr& old) {
  if (!old) return nullptr;
  if (old->is_contiguous()) {
    return contiguous_blocks(std::move(blocklengths), std::move(displacements), *old);
  }
  CompositeBounds composite;
  DisplacementRange range;
  Wide elements = 0;
  for (std::size_t i = 0; i < blocklengths.size(); ++i) {
    if (blocklengths[i] == 0) continue;
    range.add(displacements[i], blocklengths[i], old->extent());
    elements += blocklengths[i];
  }
  composite.add(*old, range, elements);
  if (!composite.fits()) return nullptr;
  return make_type(general_blocks(blocklengths, displacements, *old), composite.bounds());
}

TypePtr make_hindexed_block(std::int64_t blocklength, std::span<const std::int64_t> displacements,
                            const TypePtr& old) {
  return take_hindexed_block(blocklength, copy_of(displacements), old);
}

TypePtr take_hindexed_block(std::int64_t blocklength, UnclearedVector<std::int64_t> displacements,
                            const TypePtr& old) {
  if (!old) return nullptr;
  if (displacements.empty() || blocklength == 0) return make_type({}, {});
  DisplacementRange range;
  for (std::int64_t displacement : displacements) {
    range.add(displacement, blocklength, old->extent());
  }
  CompositeBounds composite;
  composite.add(*old, range, Wide{blocklength} * std::ssize(displacements));
  if (!composite.fits()) return nullptr;
  const Layout block = repeat(old->layout(), blocklength, old->extent());
  return make_type(place(block, std::move(displacements)), composite.bounds());
}

TypePtr make_struct(std::span<const std::int64_t> blocklengths,
                    std::span<const std::int64_t> displacements, std::span<const TypePtr> types) {
  CompositeBounds composite;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i]) return nullptr;
    if (blocklengths[i] == 0) continue;
    DisplacementRange range;
    range.add(displacements[i], blocklengths[i], types[i]->extent());
    composite.add(*types[i], range, blocklengths[i]);
  }
  if (!composite.fits()) return nullptr;
  std::vector<Layout> parts;
  parts.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Type& type = *types[i];
    const Layout block = repeat(type.layout(), blocklengths[i], type.extent());
    parts.push_back(block.moved(displacements[i]));
  }
  return make_type(join(parts), composite.bounds());
}

TypePtr make_resized(const TypePtr& old, std::int64_t lower_bound, std::int64_t extent) {
  const Wide upper_bound = Wide{lower_bound} + extent;
  if (!old || !fits(lower_bound) || !fits(upper_bound)) return nullptr;
  return make_type(old->layout(), {lower_bound, static_cast<std::int64_t>(upper_bound), true});
}

}  // namespace headrace::view
