#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// A type map, byte by byte in data order, straight from the standard's definitions.
struct TypeMap {
  /// The bounds that MPI_Type_create_resized, _subarray and _darray set (MPI 4.1, section 5.1.7).
  struct Markers {
    std::int64_t lower;
    std::int64_t upper;
  };
  std::vector<std::int64_t> offsets;
  std::optional<Markers> markers;

  std::int64_t size() const { return std::ssize(offsets); }
  std::int64_t lowest() const;   ///< offset of the lowest byte; 0 without any
  std::int64_t highest() const;  ///< offset behind the highest byte
  std::int64_t lower() const { return markers ? markers->lower : lowest(); }
  std::int64_t upper() const { return markers ? markers->upper : highest(); }
  std::int64_t extent() const { return upper() - lower(); }
};

TypeMap expand(const TypeTree& type);

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
  /// Whether each byte lies above the one before it.
  bool ascends() const;
  /// Whether a byte comes twice in so many repetitions.
  bool has_overlap(std::int64_t count) const;

 private:
  TypeMap map_;
  std::int64_t extent_;
};

/// A view with its types expanded.
class ViewMap {
 public:
  ViewMap() : ViewMap(View{}, 0) {}
  /// `displacement` holds where the view's own is MPI_DISPLACEMENT_CURRENT.
  ViewMap(const View& view, std::int64_t displacement);

  /// Bytes of an etype; 1 for an empty one.
  std::int64_t unit() const { return unit_; }
  bool shows_nothing() const { return tiles_.size() == 0; }
  bool is_ascending() const { return ascends_; }
  std::int64_t displacement() const { return displacement_; }
  /// Place in the file of a byte of the view.
  std::int64_t offset_of(std::int64_t position) const {
    return displacement_ + tiles_.offset_of(position);
  }
  /// The first etype at or behind the end of a file of so many bytes; for ascending views.
  std::int64_t etypes_below(std::int64_t file_size) const;
  const TypeMap& filetype() const { return tiles_.map(); }

 private:
  std::int64_t displacement_;
  Repetitions tiles_;
  std::int64_t unit_;
  bool ascends_;
};

}  // namespace headrace::fuzz
