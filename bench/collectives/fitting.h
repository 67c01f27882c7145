#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/world.h"

namespace headrace::bench::collectives {

/// Why an operation, or its emulation by others, cannot be called with blocks of `bytes`; empty
/// where it can. `emulation`: its name; "": none. Collective; the same on all ranks.
std::string obstacle(const World& world, std::string_view operation, std::string_view emulation,
                     std::int64_t bytes);

}  // namespace headrace::bench::collectives
