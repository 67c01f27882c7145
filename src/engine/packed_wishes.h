#pragma once

#include <cstdint>

#include "engine/agreement.h"
#include "engine/hints.h"
#include "storage/layout.h"

namespace headrace::engine {

// Several wishes as one number, so that where ranks differ those of one of them count together.

/// Stripes that settings pretend, or else that hints tell of. Pretended ones are the greatest.
std::int64_t pack_stripes(const HintValues& wanted);
/// Whether settings pretend them; then nodes count as coherent too.
bool is_pretended(std::int64_t packed);
/// Stripes that collective buffers follow: those that the settings pretend, else the file
/// system's, else those that hints tell of.
Stripes stripes_of(const storage::Layout& layout, std::int64_t packed);

/// Who writes in collective calls, and how.
std::int64_t pack_aggregators(const HintValues& wanted);
void unpack_aggregators(std::int64_t packed, Agreement& agreement);

}  // namespace headrace::engine
