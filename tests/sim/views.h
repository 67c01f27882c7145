#pragma once

#include <cstdint>
#include <vector>

#include "file/file.h"
#include "sim/random.h"
#include "steps/engine/make_type.h"
#include "steps/type_generator.h"

namespace headrace::sim {

using steps::Pair;
using steps::TypeMap;

/// One rank's view, for the engine and as a plain list of bytes.
class ViewModel {
 public:
  ViewModel(FileOffset displacement, Pair etype, Pair filetype);
  /// What a file has when it is opened.
  static ViewModel of_bytes();

  file::View view() const { return {displacement_, etype_.type, filetype_.type, "native"}; }
  ViewModel with_etype(const Pair& etype) const { return {displacement_, etype, filetype_}; }
  /// Bytes of an etype.
  std::int64_t unit() const { return unit_; }
  /// Bytes of a filetype.
  ByteCount size() const { return std::ssize(filetype_.model.offsets); }
  bool is_empty() const { return size() == 0; }
  /// File offset of the byte at a data position. Requires size() > 0.
  FileOffset offset_of(ByteCount position) const {
    return displacement_ + position / size() * extent_ +
           filetype_.model.offsets[static_cast<std::size_t>(position % size())];
  }
  /// Whether the bytes ascend for ever.
  bool ascends() const { return ascends_; }

 private:
  FileOffset displacement_;
  Pair etype_;
  Pair filetype_;
  std::int64_t unit_;
  std::int64_t extent_;
  bool ascends_;
};

/// Random views of all ranks that show each byte of the file to one rank at most.
std::vector<ViewModel> disjoint_views(Random& random, int ranks);

/// Random views that may overlap and, unless `ascending`, go backwards.
std::vector<ViewModel> free_views(Random& random, int ranks, bool ascending);

Pair basic(std::int64_t size);
Pair resized(const Pair& old, std::int64_t extent);

}  // namespace headrace::sim
