#pragma once

#include "abi/flavour/native.h"
#include "abi/flavour/representation.h"
#include "base/result.h"
#include "view/elements.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Decodes a datatype to a view::Type. The result is kept with the datatype as an attribute, so
/// that each is decoded once. Safe from several threads. Errors: MPI_DATATYPE_NULL, a type that is
/// not committed or that MPI cannot describe, sizes beyond 2^62.
Result<view::TypePtr> decode_type(MPI_Datatype datatype);

/// The form of a datatype of which any number of elements lies in one stretch of memory.
struct ContiguousForm {
  ByteCount size = 0;      ///< of an element
  std::int64_t first = 0;  ///< where the first element's first byte lies
};

/// The form of a datatype that decode_type() knows already; null if it has none.
const ContiguousForm* find_contiguous_form(MPI_Datatype datatype);

/// Like decode_type(), but also for a type that is not committed.
Result<view::TypePtr> decode_uncommitted_type(MPI_Datatype datatype);

/// The elements of a committed datatype, with their sizes in a data representation. Also kept.
Result<view::ElementsPtr> decode_elements(MPI_Datatype datatype,
                                          const Representation& representation);

/// Whether the handle belongs to MPI and must not be freed (a named type, or one made for Fortran's
/// kinds).
bool is_predefined(MPI_Datatype datatype);

/// A handle to the same datatype that the caller frees by release_type(); predefined types are
/// returned as they are.
Result<MPI_Datatype> hold_type(MPI_Datatype datatype);
/// Keeps a datatype for got_back(), even if the program frees it. Makes an uncommitted type of it,
/// which costs the same for any number of pieces; Intel MPI's duplicates of a type copy all its
/// pieces.
Result<MPI_Datatype> keep_type(MPI_Datatype datatype);
/// The kept datatype, committed; the program must free it unless it is predefined.
Result<MPI_Datatype> got_back(MPI_Datatype kept);
/// Frees what hold_type() or keep_type() returned.
void release_type(MPI_Datatype datatype);

/// The type of one byte. Takes no memory after start_datatypes().
const view::TypePtr& byte_type();

/// Called when a session of ours ends, and the keyval with it: frees the decoded types.
void drop_decoded_types();

/// Called once, when MPI runs. False if MPI refuses.
bool start_datatypes();

}  // namespace headrace::HEADRACE_FLAVOUR
