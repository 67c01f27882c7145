#pragma once

#include "base/types.h"
#include "view/copy.h"

namespace headrace::policy {

/// How a call's data is copied whose ranks move `of_all` bytes together and this one `of_rank`:
/// past the CPU's caches where it will have left them when the call ends.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank);

}  // namespace headrace::policy
