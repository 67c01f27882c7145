#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/program.h"
#include "sim/random.h"

namespace headrace::fuzz {

// Random datatypes and views.

/// A type for memory: any order, any bounds, perhaps empty. `may_overlap`: bytes may be given
/// twice, as only writes may.
TypeTree memory_type(sim::Random& random, bool may_overlap);

/// A type for a view that may be written.
TypeTree ascending_type(sim::Random& random);

/// What the views of a file must be fit for.
struct ViewUse {
  bool same_for_all = false;  ///< all ranks have one, as shared pointers ask for
  bool is_large = false;      ///< they may begin far behind the beginning of the file
  bool is_written = true;     ///< the file was opened for writing, so no view may overlap
};

/// Views for all ranks of a file.
std::vector<View> random_views(sim::Random& random, int ranks, const ViewUse& use);

}  // namespace headrace::fuzz
