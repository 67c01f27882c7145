#pragma once

#include <cstdint>

#include "steps/type_map.h"

namespace headrace::steps {

struct View {
  std::int64_t displacement = 0;
  bool current = false;  ///< MPI_DISPLACEMENT_CURRENT instead
  TypeTree etype;
  TypeTree filetype;

  bool operator==(const View&) const = default;
};

/// A view with its types expanded.
class ViewMap {
 public:
  ViewMap() : ViewMap(View{}) {}
  explicit ViewMap(const View& view) : ViewMap(view, view.displacement) {}
  /// `displacement` holds where the view's own is MPI_DISPLACEMENT_CURRENT.
  ViewMap(const View& view, std::int64_t displacement);

  /// Bytes of an etype; 1 for an empty one.
  std::int64_t unit() const { return unit_; }
  bool shows_nothing() const { return tiles_.size() == 0; }
  bool is_ascending() const { return ascends_; }
  std::int64_t displacement() const { return displacement_; }
  /// Place in the file of a byte of the view. Requires !shows_nothing().
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

}  // namespace headrace::steps
