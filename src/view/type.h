#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "base/uncleared_vector.h"
#include "view/type_layout.h"

namespace headrace::view {

class Type;

/// A shared, immutable datatype. Null stands for a type whose sizes or offsets do not fit in 62
/// bits: the makers below return it, and return it again when given it, so one check at the end is
/// enough.
using TypePtr = std::shared_ptr<const Type>;

/// The interval [lower, upper) that a type occupies when it is repeated.
struct Bounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  /// Set by make_resized, make_subarray or make_darray, here or in a component. Such bounds hide
  /// those of components without (the markers of MPI 4.1, section 5.1.7).
  bool explicitly_set = false;
};

/// An MPI datatype without MPI: a sequence of bytes at offsets, in data order, kept as nested loops
/// (see type_layout.h), and the bounds by which it is repeated. All offsets and sizes are in bytes,
/// offsets relative to the address or file position where the type is put.
class Type {
 public:
  /// For the makers below.
  Type(Layout layout, Bounds bounds);

  ByteCount size() const { return layout_.size(); }
  std::int64_t lower_bound() const { return bounds_.lower; }
  std::int64_t upper_bound() const { return bounds_.upper; }
  /// Distance between repetitions; may be negative.
  std::int64_t extent() const { return bounds_.upper - bounds_.lower; }
  /// Offset of the lowest byte, and the offset behind the highest; both 0 if size() is 0.
  std::int64_t true_lower_bound() const { return layout_.low(); }
  std::int64_t true_upper_bound() const { return layout_.high(); }

  /// Contiguous pieces in one repetition. Neighbours that meet only at the ends of two loops count
  /// separately, so this may exceed the smallest possible number.
  std::int64_t piece_count() const { return layout_.node ? layout_.node->piece_count : 0; }
  /// Whether any number of repetitions is one piece, which begins at true_lower_bound().
  bool is_contiguous() const { return tiled_ && tiled_->is_one_piece(); }
  /// Whether each byte of the repeated type lies above the byte before it in data order, as MPI
  /// requires of a view of a file that is written.
  bool is_monotonic() const { return is_monotonic_; }
  /// Whether no piece of one repetition begins before the piece that precedes it in data order, as
  /// MPI requires of the types of any file view.
  bool pieces_ascend() const { return !layout_.node || layout_.node->ascends; }
  /// The same, and no two pieces of one repetition share a byte.
  bool pieces_are_apart() const { return !layout_.node || layout_.node->is_monotonic; }
  /// Greatest common divisor of the offsets and lengths of all pieces and the extent; at least 1.
  std::int64_t granule() const { return granule_; }

  const Layout& layout() const { return layout_; }
  const Bounds& bounds() const { return bounds_; }
  /// The endless repetition of layout(), placed at layout().offset; null if size() is 0.
  const NodePtr& tiled() const { return tiled_; }

 private:
  Layout layout_;
  Bounds bounds_;
  NodePtr tiled_;
  std::int64_t granule_;
  bool is_monotonic_;
};

// Makers follow the constructors of MPI 4.1, section 5.1. Counts and blocklengths are >= 0, all
// displacements and strides are in bytes. The alignment padding that MPI allows for a struct is not
// added: use make_resized if the library's bounds differ.

/// `size` contiguous bytes; lower bound 0.
TypePtr make_basic(ByteCount size);

TypePtr make_contiguous(std::int64_t count, const TypePtr& old);

/// `count` blocks, `stride` bytes apart, of `blocklength` elements each.
TypePtr make_hvector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                     const TypePtr& old);

/// Block i has blocklengths[i] elements at displacements[i]. Both spans have the same length.
TypePtr make_hindexed(std::span<const std::int64_t> blocklengths,
                      std::span<const std::int64_t> displacements, const TypePtr& old);

/// The same, but uses the memory of the lists. Takes no further memory for many contiguous pieces
/// if `blocklengths` has capacity for one more number.
TypePtr take_hindexed(UnclearedVector<std::int64_t> blocklengths,
                      UnclearedVector<std::int64_t> displacements, const TypePtr& old);

/// Block i has `blocklength` elements at displacements[i].
TypePtr make_hindexed_block(std::int64_t blocklength, std::span<const std::int64_t> displacements,
                            const TypePtr& old);
TypePtr take_hindexed_block(std::int64_t blocklength, UnclearedVector<std::int64_t> displacements,
                            const TypePtr& old);

/// Block i has blocklengths[i] elements of types[i] at displacements[i]; all spans are equally
/// long.
TypePtr make_struct(std::span<const std::int64_t> blocklengths,
                    std::span<const std::int64_t> displacements, std::span<const TypePtr> types);

/// The same data with other bounds.
TypePtr make_resized(const TypePtr& old, std::int64_t lower_bound, std::int64_t extent);

/// Which index of an array runs fastest: the last (C) or the first (Fortran).
enum class Order { row_major, column_major };

/// The part [starts[d], starts[d] + subsizes[d]) of an array of sizes[d] elements in each
/// dimension. Bounds are those of the whole array.
TypePtr make_subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                      std::span<const std::int64_t> starts, Order order, const TypePtr& old);

enum class Distribution { none, block, cyclic };

/// Stands for MPI_DISTRIBUTE_DFLT_DARG: even blocks for `block`, single elements for `cyclic`.
inline constexpr std::int64_t kDefaultDistributionArgument = -1;

/// The part that process `rank` of a process grid psizes[] (always row-major) has of an array of
/// gsizes[] elements, distributed by distribs[] with block lengths dargs[]. Requires 0 <= rank <
/// product of psizes[], psizes[d] == 1 for `none`, and dargs[d] * psizes[d] >= gsizes[d] for
/// `block` with a given argument. Bounds are those of the whole array.
TypePtr make_darray(std::int64_t rank, std::span<const std::int64_t> gsizes,
                    std::span<const Distribution> distribs, std::span<const std::int64_t> dargs,
                    std::span<const std::int64_t> psizes, Order order, const TypePtr& old);

}  // namespace headrace::view
