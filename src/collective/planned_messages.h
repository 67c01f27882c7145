#pragma once

#include <cstdint>
#include <optional>

#include "collective/algorithm.h"

namespace headrace::collective {

/// How many messages to other nodes all ranks together send in a call, by the plans of this
/// algorithm; in all of its parts, if it is large. Nothing where sizes decide that no rank alone
/// knows, and on so many nodes that it would take long to make all plans. `shape`: any rank's.
std::optional<std::int64_t> planned_messages(const Algorithm& algorithm, const Shape& shape,
                                             const Call& call, const Limits& limits);

}  // namespace headrace::collective
