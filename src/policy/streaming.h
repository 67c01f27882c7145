#pragma once

#include "base/types.h"
#include "view/copy.h"

namespace headrace::policy {

/// How to copy the data of a call in which all ranks move `of_all` bytes together and this one
/// `of_rank`: past the CPU's caches if the data would not stay there until the call ends.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank);

}  // namespace headrace::policy
