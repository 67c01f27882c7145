#include "abi/flavour/external32_representation.h"

#include <string>

#include "abi/flavour/datatype_contents.h"
#include "abi/flavour/error.h"
#include "abi/flavour/predefined_type.h"
#include "view/external32.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using abi::PredefinedDatum;
using view::Kind;

Error not_representable(const std::string& datatype) {
  return {ErrorClass::unsupported_datarep, 0,
          datatype +
              " has no form in external32 (MPI gives it no size there), use another datatype or "
              "the representation native"};
}

view::ElementsPtr element_of(const PredefinedDatum& datum, ByteCount native_size) {
  return view::make_elements(
      {datum.kind, datum.values, 1, native_size, datum.value_size * datum.values});
}

/// A type with a name of its own.
Result<view::ElementsPtr> named_elements(MPI_Datatype datatype, ByteCount size) {
  const auto found = find_predefined(datatype);
  if (!found) return found.error();
  const abi::PredefinedType* const type = found.value();
  if (type == nullptr) return not_representable("a predefined datatype");
  if (type->count == 1) return element_of(type->data[0], size);
  // Both alike, or a value and an int.
  const bool are_alike = size % 2 == 0 && type->data[0].kind == type->data[1].kind &&
                         type->data[0].value_size == type->data[1].value_size &&
                         type->name.starts_with("MPI_2");
  const ByteCount second = are_alike ? size / 2 : static_cast<ByteCount>(sizeof(int));
  const view::ElementsPtr parts[] = {element_of(type->data[0], size - second),
                                     element_of(type->data[1], second)};
  constexpr std::int64_t kOnce[] = {1, 1};
  return view::join_elements(kOnce, parts);
}

/// The sizes of MPI 4.1, section 14.5.2, for the types of Fortran's parameters; 0 for none.
/// Parameters that were not given are negative. The limits are those of IEEE's formats: 33 decimal
/// digits and 4931 of the exponent in 16 bytes, 15 and 307 in 8, 6 and 37 in 4.
ByteCount real_size(std::int64_t precision, std::int64_t range) {
  if (precision > 33 || range > 4931) return 0;
  if (precision > 15 || range > 307) return 16;
  return precision > 6 || range > 37 ? 8 : 4;
}

/// The limits are the decimal digits that 8, 4, 2 and 1 bytes hold.
ByteCount integer_size(std::int64_t range) {
  constexpr std::int64_t kLargestRange = 38;
  if (range > kLargestRange) return 0;
  if (range > 18) return 16;
  if (range > 9) return 8;
  if (range > 4) return 4;
  return range > 2 ? 2 : 1;
}

/// A type that MPI_Type_create_f90_real, _complex or _integer made.
Result<view::ElementsPtr> parametrized_elements(Contents& contents, ByteCount size) {
  const std::int64_t first = contents.next_integer();
  if (contents.combiner() == MPI_COMBINER_F90_INTEGER) {
    const ByteCount stored = integer_size(first);
    if (stored == 0) return not_representable("an integer of Fortran");
    return element_of({Kind::signed_integer, 1, stored}, size);
  }
  const ByteCount stored = real_size(first, contents.next_integer());
  if (stored == 0) return not_representable("a real of Fortran");
  const int values = contents.combiner() == MPI_COMBINER_F90_COMPLEX ? 2 : 1;
  // For up to 18 digits a compiler uses the processor's long double, if that has 64 bits of
  // precision.
  constexpr std::int64_t kLongDoubleDigits = 18;
  const bool is_long_double =
      size / values == static_cast<ByteCount>(sizeof(long double)) && first <= kLongDoubleDigits;
  return element_of({is_long_double ? Kind::long_double : Kind::floating, values, stored}, size);
}

class External32 : public Representation {
 public:
  Result<view::ElementsPtr> elements_of(MPI_Datatype predefined) const override {
    auto contents = Contents::get(predefined);
    if (!contents) return contents.error();
    MPI_Count size = 0;
    if (native.Type_size_x(predefined, &size) != MPI_SUCCESS) {
      return native_failure("measure a datatype");
    }
    if (size == 0) return view::join_elements({}, {});
    if (contents.value().combiner() == MPI_COMBINER_NAMED) return named_elements(predefined, size);
    return parametrized_elements(contents.value(), size);
  }

  bool converts(Direction) const override { return true; }
  bool needs_datatype() const override { return false; }

  bool can_try(const view::Elements& elements) const override {
    return !view::always_fits_external32(elements);
  }

  Error to_file(const TypedBuffer& memory, const Part& part, std::byte* stored) const override {
    if (view::pack_external32(typed(memory), part.begin, part.end, stored)) return {};
    return does_not_fit("written");
  }

  Error from_file(const TypedBuffer& memory, const Part& part, std::byte* stored,
                  view::Amount& done) const override {
    done = part.end;
    if (view::unpack_external32(typed(memory), part.begin, part.end, stored)) return {};
    return does_not_fit("read in full");
  }

 private:
  static view::TypedMemory typed(const TypedBuffer& memory) {
    return {static_cast<std::byte*>(memory.buffer), memory.type, *memory.elements};
  }
  static Error does_not_fit(const std::string& what) {
    return {ErrorClass::conversion, 0,
            "an integer cannot be " + what +
                " (its value does not fit the size of its datatype in external32), use a datatype "
                "that is larger there"};
  }
};

}  // namespace

std::unique_ptr<const Representation> make_external32() {
  return std::make_unique<const External32>();
}

}  // namespace headrace::HEADRACE_FLAVOUR
