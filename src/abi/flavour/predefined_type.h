#pragma once

#include "abi/flavour/native.h"
#include "abi/generated/predefined_types.h"
#include "base/result.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Facts about a named predefined datatype; null for a name that is not MPI's. Looks it up by name,
/// which is the same in every ABI: a program that renames a predefined type hides it.
Result<const abi::PredefinedType*> find_predefined(MPI_Datatype datatype);

}  // namespace headrace::HEADRACE_FLAVOUR
