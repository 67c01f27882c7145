#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "view/elements.h"
#include "view/type.h"

/// MPI's portable data representation (MPI 4.1, section 14.5.2): big-endian, two's complement, IEEE
/// 754, no gaps. Element::stored_size is the size of a value in the file.
///
/// If an integer does not fit, its least significant bytes are kept, as the standard advises, and
/// the conversion returns false. A floating point number that does not fit is rounded to nearest,
/// or to infinity. Not-a-number stays not-a-number and keeps as much of its payload as fits.
namespace headrace::view {

/// Converts `count` contiguous elements. The ranges must not overlap. Returns whether all values
/// fitted.
bool to_external32(const Element& element, std::int64_t count, const std::byte* native,
                   std::byte* stored);
bool from_external32(const Element& element, std::int64_t count, const std::byte* stored,
                     std::byte* native);

/// Memory in which a type is repeated: `base` is the address of offset 0, null for absolute
/// addresses.
struct TypedMemory {
  std::byte* base = nullptr;
  TypePtr type;
  const Elements& elements;  ///< of `type`
};

/// Converts the elements between two amounts, both of whole elements, of the endless repetition of
/// the type. The first goes to `stored`. Returns whether all values fitted.
bool pack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                     std::byte* stored);
/// The reverse of pack_external32().
bool unpack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                       const std::byte* stored);

/// Whether every value of these elements fits in its form in the file.
bool always_fits_external32(const Elements& elements);

}  // namespace headrace::view
