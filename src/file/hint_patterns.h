#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/settings_file.h"

namespace headrace::file {

struct ParsedPatterns {
  std::vector<PatternHints> hints;    ///< in the order of the text; each pattern once
  std::vector<std::string> problems;  ///< with the character where each begins, from 1
};

/// Reads hints by file name as Cray's MPI does (man page intro_mpi, MPICH_MPIIO_HINTS):
/// PATTERN:KEY=VALUE:KEY=VALUE,PATTERN:KEY=VALUE. What its grammar leaves open:
///
/// - A colon ends a pattern or a value only if KEY= follows.
/// - A comma ends a value if a pattern with hints, or nothing, follows up to the next comma.
/// - A value may stand between two #, a backslash takes a character as it is.
/// - In cb_config_list, HOST:COUNT behind a comma belongs to the list.
/// - The hints of a pattern that comes again are added to those it had.
ParsedPatterns parse_hint_patterns(std::string_view text);

}  // namespace headrace::file
