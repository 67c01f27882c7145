#pragma once

#include <cstdint>
#include <optional>
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
  /// Offset of data byte `position` of endless repetitions. Requires size() > 0.
  std::int64_t offset_of(std::int64_t position) const {
    return position / size() * extent() + offsets[static_cast<std::size_t>(position % size())];
  }
};

TypeMap expand(const TypeTree& type);

/// Each byte lies above the one before it, in all repetitions.
bool ascends(const TypeMap& map);

/// A view with its types expanded.
class ViewMap {
 public:
  ViewMap() : ViewMap(View{}, 0) {}
  /// `displacement` holds where the view's own is MPI_DISPLACEMENT_CURRENT.
  ViewMap(const View& view, std::int64_t displacement);

  /// Bytes of an etype; 1 for an empty one.
  std::int64_t unit() const { return unit_; }
  bool shows_nothing() const { return filetype_.size() == 0; }
  bool is_ascending() const { return ascends_; }
  std::int64_t displacement() const { return displacement_; }
  /// Place in the file of a byte of the view.
  std::int64_t offset_of(std::int64_t position) const {
    return displacement_ + filetype_.offset_of(position);
  }
  /// The first etype at or behind the end of a file of so many bytes; for ascending views.
  std::int64_t etypes_below(std::int64_t file_size) const;
  const TypeMap& filetype() const { return filetype_; }

 private:
  std::int64_t displacement_;
  TypeMap filetype_;
  std::int64_t unit_;
  bool ascends_;
};

}  // namespace headrace::fuzz
