#pragma once

#include <cstdint>

namespace headrace::fuzz {

/// From now on this process's calls that move a file's bytes move fewer than they are asked for, or
/// are interrupted, at places that depend on the seed. Linked in by --wrap.
void cut_calls_short(std::uint64_t seed);
void let_calls_through();

}  // namespace headrace::fuzz
