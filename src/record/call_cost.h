#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headrace::record {

/// Picoseconds that recording a call takes here at least: the fastest of some hundred, with all of
/// it in caches and without counting bytes, on tables that are thrown away. `has_timeline`: its
/// event is kept, too. 0 where there is no room for those.
std::int64_t measure_call_cost(std::span<const std::string> directories, const std::string& job,
                               bool has_timeline);

}  // namespace headrace::record
