#pragma once

#include "abi/flavour/native.h"
#include "abi/flavour/representation.h"
#include "base/result.h"
#include "view/elements.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The elements of a valid datatype, in data order, with their sizes in a representation. Examines
/// the type at each call; decode_elements() in datatype.h keeps the result.
Result<view::ElementsPtr> build_elements(MPI_Datatype datatype,
                                         const Representation& representation);

/// A valid datatype as an etype or filetype of a representation. Displacements in units of a
/// datatype's extent scale with it; displacements in bytes are bytes of the file (MPI 4.1, section
/// 14.5). Nothing is aligned.
Result<view::TypePtr> build_file_type(MPI_Datatype datatype, const Representation& representation);

}  // namespace headrace::HEADRACE_FLAVOUR
