#pragma once

#include <cstdint>

#include "abi/flavour/native.h"
#include "abi/generated/predefined_types.h"

namespace headrace::HEADRACE_FLAVOUR {

/// What collective calls need to know of a datatype.
struct CollectiveType {
  std::int64_t size = -1;   ///< of an element's data, in bytes; -1: not known, or no datatype
  std::int64_t extent = 0;  ///< from one element to the next
  bool is_dense = false;    ///< elements lie as their data would be sent: no gaps, in order
  const abi::PredefinedType* predefined = nullptr;  ///< null for types that programs make
};
CollectiveType collective_type(MPI_Datatype datatype);

/// Whether a predefined operation computes with a predefined type's data, as both the standard and
/// MPI_Reduce_local have it, in any order of the operands: an operation that we carry out.
bool may_reduce(MPI_Op operation, const CollectiveType& type);

}  // namespace headrace::HEADRACE_FLAVOUR
