#pragma once

#include "abi/flavour/native.h"
#include "abi/flavour/representation.h"
#include "base/result.h"
#include "view/elements.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The datatype as the view room has it. Kept with the datatype as an attribute, so that it is
/// decoded once; safe from several threads. Errors: MPI_DATATYPE_NULL, a type that is not committed
/// or that MPI cannot describe, sizes beyond 2^62.
Result<view::TypePtr> decode_type(MPI_Datatype datatype);

/// A datatype of which any number of elements lies in one stretch of memory.
struct ContiguousForm {
  ByteCount size = 0;      ///< of an element
  std::int64_t first = 0;  ///< where the first element's first byte lies
};

/// The form of a datatype that decode_type knows already; null where there is none.
const ContiguousForm* find_contiguous_form(MPI_Datatype datatype);

/// As decode_type, also for a type that is not committed.
Result<view::TypePtr> decode_uncommitted_type(MPI_Datatype datatype);

/// The elements of a committed datatype, with their sizes in a data representation. Kept, too.
Result<view::ElementsPtr> decode_elements(MPI_Datatype datatype,
                                          const Representation& representation);

/// Whether the handle belongs to MPI and must not be freed (named, or made by Fortran's kinds).
bool is_predefined(MPI_Datatype datatype);

/// A handle to the same datatype that the holder frees by release_type; predefined types are
/// returned as they are.
Result<MPI_Datatype> hold_type(MPI_Datatype datatype);
/// Keeps a datatype for got_back, also when the program has freed it: a type of it, uncommitted,
/// which costs the same however many pieces it has. Intel MPI's copies of a type have copies of all
/// its pieces.
Result<MPI_Datatype> keep_type(MPI_Datatype datatype);
/// The datatype that is kept, committed, for the program to free unless it is predefined.
Result<MPI_Datatype> got_back(MPI_Datatype kept);
/// Ends what hold_type or keep_type gave.
void release_type(MPI_Datatype datatype);

/// One byte. From start_datatypes() on it takes no memory.
const view::TypePtr& byte_type();

/// A session of ours ends, and with it the keyval: frees the memory of what is not found any more.
void drop_decoded_types();

/// Once, when MPI runs. False where MPI refuses.
bool start_datatypes();

}  // namespace headrace::HEADRACE_FLAVOUR
