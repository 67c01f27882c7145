#pragma once

#include "abi/flavour/native.h"
#include "base/result.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// How datatypes lie in memory or in a file: the form of predefined types, to which the
/// constructors of derived types are applied, and what becomes of their results.
class TypeForm {
 public:
  virtual ~TypeForm() = default;

  virtual Result<view::TypePtr> predefined(MPI_Datatype datatype) const = 0;
  /// The offset of the index in a pair of MPI_Type_get_value_index.
  virtual std::int64_t place_behind(const view::Type& value, const view::Type& index) const = 0;
  /// Checks or adapts what the constructor of `datatype` made; null if that is too large.
  virtual Result<view::TypePtr> accept(MPI_Datatype datatype, const view::TypePtr& made) const = 0;
};

/// Makes the datatype in a form, by following its constructors (MPI_Type_get_envelope and
/// _contents).
Result<view::TypePtr> construct_type(MPI_Datatype datatype, const TypeForm& form);

/// The error for a type whose size or bounds do not fit in 62 bits.
Error too_large_type();

}  // namespace headrace::HEADRACE_FLAVOUR
