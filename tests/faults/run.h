#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/coverage.h"
#include "faults/script.h"

namespace headrace::faults {

/// What came of a script under faults.
struct Verdict {
  std::vector<std::string> problems;  ///< what breaks the contract; none where it is kept
  std::int64_t struck = 0;            ///< faults that struck, once or more often
  bool last_struck = false;           ///< the last of them
};

/// Lets ranks as threads run the script while the faults strike, and judges what they are told.
Verdict run_script(const Script& script, const std::vector<Fault>& faults, Coverage& coverage);

}  // namespace headrace::faults
