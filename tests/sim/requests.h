#pragma once

#include <cstdint>

#include "base/types.h"
#include "sim/random.h"
#include "sim/views.h"
#include "steps/memory.h"

namespace headrace::sim {

using steps::Part;

/// Bytes at which no random request goes on.
inline constexpr FileOffset kEndOfRequests = 1'500'000;

/// One rank's part of a random valid access of at most about `most_bytes` bytes, by an offset or by
/// the individual pointer, which stands at `pointer` etypes.
Part make_request(Random& random, bool is_write, const ViewMap& view, std::int64_t pointer,
                  ByteCount most_bytes);

}  // namespace headrace::sim
