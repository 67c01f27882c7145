#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "steps/type_tree.h"

// The tests' one oracle of datatypes. It shares no code with the view room, which is compared with
// it.

namespace headrace::steps {

/// A type map, byte by byte in data order, straight from the standard's definitions.
struct TypeMap {
  /// The bounds that MPI_Type_create_resized, _subarray and _darray set (MPI 4.1, section 5.1.7).
  struct Markers {
    std::int64_t lower;
    std::int64_t upper;
  };
  Numbers offsets;
  std::optional<Markers> markers;

  std::int64_t size() const { return std::ssize(offsets); }
  std::int64_t lowest() const;   ///< offset of the lowest byte; 0 without any
  std::int64_t highest() const;  ///< offset behind the highest byte
  std::int64_t lower() const { return markers ? markers->lower : lowest(); }
  std::int64_t upper() const { return markers ? markers->upper : highest(); }
  std::int64_t extent() const { return upper() - lower(); }
  /// The bytes of `count` of them, each an extent behind the one before it, placed at `origin`.
  Numbers repeated(std::int64_t count, std::int64_t origin = 0) const;

  void append(const TypeMap& element, std::int64_t displacement);
};

TypeMap expand(const TypeTree& type);

/// Whether each byte lies above the one before it.
bool ascends(const Numbers& offsets);

/// A type again and again, each an extent behind the one before it.
class Repetitions {
 public:
  explicit Repetitions(TypeMap map) : map_(std::move(map)), extent_(map_.extent()) {}

  const TypeMap& map() const { return map_; }
  std::int64_t size() const { return map_.size(); }  ///< of one
  std::int64_t extent() const { return extent_; }    ///< of one
  /// Offset of data byte `position`. Requires size() > 0.
  std::int64_t offset_of(std::int64_t position) const {
    return position / size() * extent_ + map_.offsets[static_cast<std::size_t>(position % size())];
  }
  /// Whether each byte lies above the one before it, for ever.
  bool ascends() const { return steps::ascends(map_.repeated(3)); }
  /// Whether a byte comes twice in so many repetitions.
  bool has_overlap(std::int64_t count) const;

 private:
  TypeMap map_;
  std::int64_t extent_;
};

}  // namespace headrace::steps
