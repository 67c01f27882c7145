#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"

namespace headrace::view {

/// What kind of values an element has, for external32.
enum class Kind : std::uint8_t {
  bytes,             ///< never converted
  signed_integer,    ///< two's complement
  unsigned_integer,  ///< also characters wider than a byte
  boolean,           ///< C's and C++'s bool: 0 or 1
  logical,           ///< Fortran's LOGICAL: 0 is false
  floating,          ///< IEEE 754 of the width it has (2, 4, 8 or 16 bytes)
  long_double,       ///< C's long double, whatever it is here
};

/// One entry of a type map: a datum that is converted as a whole. Its values are contiguous in
/// memory and in a file.
struct Element {
  Kind kind = Kind::bytes;
  int values = 1;  ///< 2 for complex numbers
  int items = 1;   ///< entries of MPI's type map; more than 1 if a pair is converted as a whole
  ByteCount native_size = 0;  ///< bytes in memory, at least 1
  ByteCount stored_size = 0;  ///< bytes in a file, at least 1

  bool operator==(const Element&) const = default;
};

/// A length of data, measured in three ways.
struct Amount {
  std::int64_t items = 0;
  ByteCount native = 0;
  ByteCount stored = 0;

  Amount operator+(const Amount& other) const {
    return {items + other.items, native + other.native, stored + other.stored};
  }
  Amount operator*(std::int64_t count) const {
    return {items * count, native * count, stored * count};
  }
  bool operator==(const Amount&) const = default;
};

class Elements;
using ElementsPtr = std::shared_ptr<const Elements>;

/// The elements of a datatype in data order, without their places: its type signature. Stored as
/// nested repetitions, so that memory grows with the constructors and not with the number of
/// elements. Callers of the makers ensure that all amounts fit in 62 bits.
class Elements {
 public:
  /// `count` times an element; or, if `child` is not null, `count` times its elements.
  struct Part {
    ElementsPtr child;
    Element element;
    std::int64_t count = 0;
    Amount begin;  ///< where the part begins in one repetition

    Amount one() const {
      return child ? child->amount()
                   : Amount{element.items, element.native_size, element.stored_size};
    }
  };

  /// For the makers below.
  explicit Elements(std::vector<Part> parts);

  /// The amount of one repetition.
  const Amount& amount() const { return amount_; }
  const std::vector<Part>& parts() const { return parts_; }

  /// The whole elements among the first `stored` bytes (or `items` items) of the endless
  /// repetition. Logarithmic.
  Amount whole_in_stored(ByteCount stored) const { return whole(&Amount::stored, stored); }
  Amount whole_in_items(std::int64_t items) const { return whole(&Amount::items, items); }

 private:
  Amount whole(std::int64_t Amount::* measure, std::int64_t limit) const;

  std::vector<Part> parts_;
  Amount amount_;
};

ElementsPtr make_elements(const Element& element);
ElementsPtr repeat_elements(std::int64_t count, const ElementsPtr& old);
/// counts[i] times parts[i], in order; both spans have the same length.
ElementsPtr join_elements(std::span<const std::int64_t> counts, std::span<const ElementsPtr> parts);

/// Walks the endless repetition of a type's elements.
class ElementCursor {
 public:
  /// `count` elements of a kind that follow each other.
  struct Run {
    Element element;
    std::int64_t count = 0;
  };

  /// `elements` must not be empty and must outlive the cursor, which begins after `items` items.
  /// These must be whole elements.
  explicit ElementCursor(const Elements& elements, std::int64_t items = 0);

  /// Steps over the next equal elements, of at most `native_limit` bytes in memory. Returns none if
  /// the next element is larger.
  Run next(ByteCount native_limit);

 private:
  /// A part on the way to the current element, and how many of its repetitions are done.
  struct Level {
    const Elements* elements;
    std::size_t part;
    std::int64_t done;
  };

  void descend();
  void step();

  std::vector<Level> levels_;
};

}  // namespace headrace::view
