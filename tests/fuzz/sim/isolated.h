#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// What came of programs that a child process ran, so that crashes and hangs are findings too.
struct Verdict {
  std::int64_t clean = 0;  ///< programs that ran as they should, before the first that did not
  std::string problem;     ///< of that one; empty where all were clean
};

/// Makes and runs programs number 0 to count - 1; `seconds` is the limit of one.
Verdict run_isolated(std::int64_t count, const std::function<Program(std::int64_t)>& make,
                     unsigned seconds);

}  // namespace headrace::fuzz
