#pragma once

#include "abi/flavour/native.h"
#include "base/result.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Where types lie, in memory or in a file: what the predefined ones are there, to which the
/// constructors of the others are applied, and what becomes of their results.
class TypeForm {
 public:
  virtual ~TypeForm() = default;

  virtual Result<view::TypePtr> predefined(MPI_Datatype datatype) const = 0;
  /// Where the index of MPI_Type_get_value_index's pairs lies.
  virtual std::int64_t place_behind(const view::Type& value, const view::Type& index) const = 0;
  /// `made` is what the constructor of `datatype` made; null where it is too large.
  virtual Result<view::TypePtr> accept(MPI_Datatype datatype, const view::TypePtr& made) const = 0;
};

/// The datatype in a form, by its constructors (MPI_Type_get_envelope and _contents).
Result<view::TypePtr> construct_type(MPI_Datatype datatype, const TypeForm& form);

/// The error for a type whose size or bounds do not fit in 62 bits.
Error too_large_type();

}  // namespace headrace::HEADRACE_FLAVOUR
