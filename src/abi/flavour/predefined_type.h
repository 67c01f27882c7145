#pragma once

#include "abi/flavour/native.h"
#include "abi/generated/predefined_types.h"
#include "base/result.h"

namespace headrace::HEADRACE_FLAVOUR {

/// What is known of a named predefined datatype; null for a name that is not MPI's. Found by the
/// name, which is the same in every ABI: a program that renames a predefined type hides it.
Result<const abi::PredefinedType*> find_predefined(MPI_Datatype datatype);

}  // namespace headrace::HEADRACE_FLAVOUR
