#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "view/elements.h"
#include "view/type.h"

/// MPI's portable data representation (MPI 4.1, section 15.5.2): big-endian, two's complement, IEEE
/// 754, no gaps. The size of a value in the file is its element's business.
///
/// An integer that does not fit keeps its least significant bytes, as the standard advises, and the
/// conversion returns false. A floating point number that does not fit is rounded to nearest, to
/// infinity at last. Not-a-number stays one; as much of its payload as fits is kept.
namespace headrace::view {

/// Converts `count` elements that lie one after the other. The ranges must not overlap. Returns
/// whether all values fitted.
bool to_external32(const Element& element, std::int64_t count, const std::byte* native,
                   std::byte* stored);
bool from_external32(const Element& element, std::int64_t count, const std::byte* stored,
                     std::byte* native);

/// Memory in which a type is repeated: `base` is where offset 0 lies, null for absolute addresses.
struct TypedMemory {
  std::byte* base = nullptr;
  TypePtr type;
  const Elements& elements;  ///< of `type`
};

/// Converts what lies between two amounts of whole elements of the endless repetition of the type.
/// `stored` is where the first of them goes. Returns whether all values fitted.
bool pack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                     std::byte* stored);
/// The other way.
bool unpack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                       const std::byte* stored);

/// Whether all values of these elements fit in the form of the file.
bool always_fits_external32(const Elements& elements);

}  // namespace headrace::view
